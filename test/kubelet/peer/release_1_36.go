//go:build !kubelet_1_34 && !kubelet_1_37

package main

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
	"k8s.io/kubernetes/pkg/volume/csi"
)

// The signatures of 1.35 and 1.36. Before, Run has no context; from 1.37 on, the handler's methods have one, too.

func runPluginManager(ctx context.Context, manager pluginmanager.PluginManager) {
	manager.Run(ctx, nil, ctx.Done())
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
