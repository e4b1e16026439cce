package main

import (
	"errors"
	"sync"
)

// observedHandler is the kubelet's CSI registration handler, seen from outside: every call goes to csi.PluginHandler and
// its outcome to stdout. Calls can be made to fail in its place, which gives real refusals: the plugin manager around it
// answers, undoes and backs off as its release does. The files release_*.go add the methods in the signatures of a release.
type observedHandler struct {
	mu       sync.Mutex
	refusals int
	text     string
}

type plugin struct {
	driver, endpoint string
	versions         []string
}

func (p plugin) fields() fields { return fields{"driver": p.driver, "endpoint": p.endpoint} }

func (h *observedHandler) refuse(times int, text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refusals, h.text = times, text
}

func (h *observedHandler) nextRefusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refusals == 0 {
		return nil
	}
	h.refusals--
	return errors.New(h.text)
}

func (h *observedHandler) validate(p plugin, validate func() error) error {
	if err := validate(); err != nil {
		return refused(p, err)
	}
	told := p.fields()
	told["versions"] = p.versions
	say("plugin.validated", told)
	return nil
}

func (h *observedHandler) register(p plugin, register func() error) error {
	err := h.nextRefusal()
	if err == nil {
		err = register()
	}
	if err != nil {
		return refused(p, err)
	}
	say("plugin.registered", p.fields())
	return nil
}

func (h *observedHandler) deregister(p plugin, deregister func()) {
	deregister()
	say("plugin.deregistered", p.fields())
}

func refused(p plugin, err error) error {
	told := p.fields()
	told["error"] = err.Error()
	say("plugin.refused", told)
	return err
}
