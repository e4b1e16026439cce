// Command driver is the CSI driver of Kubernetes' own end-to-end tests on a unix socket: node id = driver name, one
// topology key, room for 7 volumes.
//
// Each call it has answered is told on stdout, one JSON object a line. SIGTERM ends it and removes its socket; a socket
// that a killed predecessor left at the path is removed at the start.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

const attachLimit = 7

func main() {
	name := flag.String("name", "mock.csi.k8s.io", "name that GetPluginInfo answers")
	address := flag.String("address", "csi.sock", "path of the socket")
	flag.Parse()
	if err := serve(*name, *address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(name, address string) error {
	if info, err := os.Lstat(address); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(address); err != nil {
			return err
		}
	}
	listener, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	driver := service.New(service.Config{DriverName: name, EnableTopology: true, AttachLimit: attachLimit})
	server := grpc.NewServer(grpc.UnaryInterceptor(tellCall))
	csi.RegisterIdentityServer(server, driver)
	csi.RegisterNodeServer(server, driver)
	csi.RegisterControllerServer(server, driver)

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	context.AfterFunc(ctx, server.Stop)
	say(map[string]any{"event": "driver.listening"})
	return server.Serve(listener)
}

func tellCall(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	response, err := handler(ctx, request)
	say(map[string]any{"event": "call.answered", "method": info.FullMethod, "code": status.Code(err).String()})
	return response, err
}

// One write a line, so that answers given at the same time do not mix.
func say(line map[string]any) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(text, '\n'))
}
