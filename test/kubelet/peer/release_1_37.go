//go:build kubelet_1_37

package main

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
	"k8s.io/kubernetes/pkg/volume/csi"
)

// The signatures from 1.37 on: a context everywhere.

func runPluginManager(ctx context.Context, manager pluginmanager.PluginManager) {
	manager.Run(ctx, nil, ctx.Done())
}

func (h *observedHandler) ValidatePlugin(ctx context.Context, name, endpoint string, versions []string) error {
	return h.validate(plugin{name, endpoint, versions}, func() error {
		return csi.PluginHandler.ValidatePlugin(ctx, name, endpoint, versions)
	})
}

func (h *observedHandler) RegisterPlugin(ctx context.Context, name, endpoint string, versions []string, timeout *time.Duration) error {
	return h.register(plugin{name, endpoint, versions}, func() error {
		return csi.PluginHandler.RegisterPlugin(ctx, name, endpoint, versions, timeout)
	})
}

func (h *observedHandler) DeRegisterPlugin(ctx context.Context, name, endpoint string) {
	h.deregister(plugin{driver: name, endpoint: endpoint}, func() {
		csi.PluginHandler.DeRegisterPlugin(ctx, name, endpoint)
	})
}
