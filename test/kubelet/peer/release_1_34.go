//go:build kubelet_1_34

package main

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
	"k8s.io/kubernetes/pkg/volume/csi"
)

// The signatures of 1.33 and 1.34: no context anywhere.

func runPluginManager(ctx context.Context, manager pluginmanager.PluginManager) {
	manager.Run(nil, ctx.Done())
}

func (h *observedHandler) ValidatePlugin(name, endpoint string, versions []string) error {
	return h.validate(plugin{name, endpoint, versions}, func() error {
		return csi.PluginHandler.ValidatePlugin(name, endpoint, versions)
	})
}

func (h *observedHandler) RegisterPlugin(name, endpoint string, versions []string, timeout *time.Duration) error {
	return h.register(plugin{name, endpoint, versions}, func() error {
		return csi.PluginHandler.RegisterPlugin(name, endpoint, versions, timeout)
	})
}

func (h *observedHandler) DeRegisterPlugin(name, endpoint string) {
	h.deregister(plugin{driver: name, endpoint: endpoint}, func() {
		csi.PluginHandler.DeRegisterPlugin(name, endpoint)
	})
}
