// Command driver is the CSI driver of Kubernetes' own end-to-end tests as a container of a pod: node id = driver name, one
// topology key, room for 7 volumes.
//
// It can come late (-start-after), and answer NodeGetInfo with an error for a time (-node-get-info-fails-for, from the
// moment it listens). It takes its socket's path from whoever holds it and never removes it at its end: in a rolling
// update the old driver ends when the new one has long been listening there.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

const (
	attachLimit = 7
	nodeGetInfo = "/csi.v1.Node/NodeGetInfo"
)

func main() {
	name := flag.String("name", "mock.csi.k8s.io", "name that GetPluginInfo answers")
	address := flag.String("address", "/csi/csi.sock", "path of the socket")
	startAfter := flag.Duration("start-after", 0, "how long nothing listens")
	failsFor := flag.Duration("node-get-info-fails-for", 0, "how long NodeGetInfo is answered with an error")
	flag.Parse()
	log.SetFlags(log.Ltime | log.Lmicroseconds)

	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	select {
	case <-time.After(*startAfter):
	case <-ctx.Done():
		return
	}
	if err := serve(ctx, *name, *address, *failsFor); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, name, address string, failsFor time.Duration) error {
	if err := os.Remove(address); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", address)
	if err != nil {
		return err
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	driver := service.New(service.Config{DriverName: name, EnableTopology: true, AttachLimit: attachLimit})
	server := grpc.NewServer(grpc.ChainUnaryInterceptor(tellCall, failNodeGetInfo(time.Now().Add(failsFor))))
	csi.RegisterIdentityServer(server, driver)
	csi.RegisterNodeServer(server, driver)
	csi.RegisterControllerServer(server, driver)
	context.AfterFunc(ctx, server.Stop)
	log.Printf("%s listens on %s", name, address)
	return server.Serve(listener)
}

func failNodeGetInfo(until time.Time) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if info.FullMethod == nodeGetInfo && time.Now().Before(until) {
			return nil, status.Error(codes.Unavailable, fmt.Sprintf("this node is not known before %s", until.Format(time.TimeOnly)))
		}
		return handler(ctx, request)
	}
}

func tellCall(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	response, err := handler(ctx, request)
	log.Printf("%s: %s", info.FullMethod, status.Code(err))
	return response, err
}
