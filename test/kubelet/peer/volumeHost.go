package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/kubernetes/pkg/volume"
	"k8s.io/kubernetes/pkg/volume/csi"
)

// volumeHost is as much of a kubelet as the CSI volume plugin asks for while it starts and while drivers register. The
// embedded interfaces are nil: they give the other methods, which nobody calls, and keep up with interfaces that grow.
type volumeHost struct {
	volume.VolumeHost
	volume.KubeletVolumeHost
	root        string
	api         api
	informers   informers.SharedInformerFactory
	initialised func()
}

// With one method of another type the plugin would silently take the host for no kubelet and initialise nothing.
var _ volume.KubeletVolumeHost = (*volumeHost)(nil)

// startVolumeHost initialises the CSI volume plugin, whose package globals csi.PluginHandler works with, and returns when
// the CSINode is there: a registration before that would meet an empty node UID.
func startVolumeHost(ctx context.Context, root string, api api) error {
	ready := make(chan struct{})
	host := &volumeHost{
		root:        root,
		api:         api,
		informers:   informers.NewSharedInformerFactory(api, 0),
		initialised: sync.OnceFunc(func() { close(ready) }),
	}
	if err := csi.ProbeVolumePlugins()[0].Init(host); err != nil {
		return fmt.Errorf("init of the CSI volume plugin: %w", err)
	}
	host.informers.Start(ctx.Done())
	select {
	case <-ready:
		return nil
	case <-time.After(initialisationTimeout):
		return fmt.Errorf("no CSINode after %s", initialisationTimeout)
	}
}

// SetKubeletError is called with nil when the CSINode has been written.
func (h *volumeHost) SetKubeletError(err error) {
	if err == nil {
		h.initialised()
	}
}

func (h *volumeHost) GetKubeClient() clientset.Interface { return h.api }
func (h *volumeHost) GetNodeName() types.NodeName        { return types.NodeName(h.api.node) }
func (h *volumeHost) GetKubeletRootDir() string          { return h.root }
func (h *volumeHost) GetPluginDir(name string) string    { return filepath.Join(h.root, "plugins", name) }
func (h *volumeHost) CSIDriverLister() storagelisters.CSIDriverLister {
	return h.informers.Storage().V1().CSIDrivers().Lister()
}
func (h *volumeHost) CSIDriversSynced() cache.InformerSynced              { return func() bool { return true } }
func (h *volumeHost) GetInformerFactory() informers.SharedInformerFactory { return h.informers }
func (h *volumeHost) WaitForCacheSync() error                             { return nil }
func (h *volumeHost) GetServiceAccountTokenFunc() func(string, string, *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	return func(string, string, *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
		return nil, errors.New("this kubelet hands out no tokens")
	}
}
