// Command peer is the kubelet of the tests: the kubelet's own plugin manager and CSI registration handler, of one
// Kubernetes release, on the directory <root>/plugins_registry, with a fake API behind them.
//
// What they do is told on stdout, one JSON object a line (events.go); the kubelet's own log goes to stderr as klog text.
// Commands are taken from stdin, one JSON object a line (commands.go). SIGTERM ends it; a kubelet restart is a new
// process on the same root. As the API lives in the process, a new process begins with an empty one.
package main

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"k8s.io/kubernetes/pkg/kubelet/pluginmanager"
)

// The kubelet creates its CSINode about 0.1 s after the start; this is the limit for a loaded machine.
const initialisationTimeout = 20 * time.Second

func main() {
	root := flag.String("root", "", "kubelet root directory; plugins_registry is made in it, as the kubelet does")
	node := flag.String("node", "node-1", "name of the node")
	withoutHandler := flag.Bool("without-csi-handler", false, "have no handler for plugins of type CSIPlugin")
	klog.InitFlags(nil)
	flag.Parse()

	registry := filepath.Join(*root, "plugins_registry")
	orFail(os.MkdirAll(registry, 0o750))

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	api := newAPI(*node)
	orFail(api.watchNode(ctx))
	orFail(startVolumeHost(ctx, *root, api))

	manager := pluginmanager.NewPluginManager(registry, &record.FakeRecorder{})
	handler := &observedHandler{}
	if !*withoutHandler {
		manager.AddHandler(registerapi.CSIPlugin, handler)
	}
	go runPluginManager(ctx, manager)
	say("kubelet.started", fields{"registry": registry})
	go takeCommands(os.Stdin, handler)
	<-ctx.Done()
}

func orFail(err error) {
	if err != nil {
		say("kubelet.failed", fields{"error": err.Error()})
		os.Exit(1)
	}
}
