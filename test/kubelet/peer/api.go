package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// The annotation by which attachers find a node's id for each driver: a JSON object.
const nodeIDAnnotation = "csi.volume.kubernetes.io/nodeid"

// api is the fake API server: one Node, and whatever the kubelet code writes. It stores and answers, but it does not
// enforce what a real one does (immutable fields, sizes, conflicts).
type api struct {
	*fake.Clientset
	node string
}

func newAPI(node string) api {
	return api{node: node, Clientset: fake.NewClientset(&corev1.Node{
		// A UID, because since 1.35 the kubelet compares it with the CSINode's owner.
		ObjectMeta: metav1.ObjectMeta{Name: node, UID: "11111111-2222-3333-4444-555555555555"},
	})}
}

// watchNode says node.changed whenever the node's annotation or the drivers of its CSINode change, until ctx ends.
func (a api) watchNode(ctx context.Context) error {
	nodes, err := a.CoreV1().Nodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("watch of the node: %w", err)
	}
	csiNodes, err := a.StorageV1().CSINodes().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("watch of the CSINode: %w", err)
	}
	go func() {
		defer nodes.Stop()
		defer csiNodes.Stop()
		last, ids, drivers := "", json.RawMessage("{}"), []storagev1.CSINodeDriver{}
		for {
			select {
			case event := <-nodes.ResultChan():
				if node, ok := event.Object.(*corev1.Node); ok {
					ids = json.RawMessage("{}")
					if text := node.Annotations[nodeIDAnnotation]; text != "" {
						ids = json.RawMessage(text)
					}
				}
			case event := <-csiNodes.ResultChan():
				if csiNode, ok := event.Object.(*storagev1.CSINode); ok {
					drivers = append([]storagev1.CSINodeDriver{}, csiNode.Spec.Drivers...)
				}
			case <-ctx.Done():
				return
			}
			// Labels and other annotations change, too; only what is told counts.
			state := fields{"nodeIDs": ids, "drivers": drivers}
			if now, err := json.Marshal(state); err == nil && string(now) != last {
				last = string(now)
				say("node.changed", state)
			}
		}
	}()
	return nil
}
