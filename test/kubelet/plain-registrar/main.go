// Command plain-registrar is the other kind of registrar, the one ours meets in rolling updates: it knows its socket by
// name only. At its start it removes whatever socket is at the path, alive or not; on SIGTERM it removes the path, whoever
// has bound it meanwhile; between the two it does not look at the path again. It answers no refusal: it exits.
//
// Flags, log lines and exit codes are those of node-driver-registrar v2.17, as far as the tests look at them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/klog/v2"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

const connectTimeout = 30 * time.Second

func main() {
	csiAddress := flag.String("csi-address", "/run/csi/socket", "path of the CSI driver's socket")
	endpoint := flag.String("kubelet-registration-path", "", "path of the CSI driver's socket on the host")
	registry := flag.String("plugin-registration-path", "/registration", "directory of the registration socket")
	klog.InitFlags(nil)
	flag.Parse()

	name, err := driverName(*csiAddress)
	if err != nil {
		klog.ErrorS(err, "Error retreiving CSI driver name")
		os.Exit(1)
	}
	if err := serve(name, *endpoint, filepath.Join(*registry, name+"-reg.sock")); err != nil {
		klog.ErrorS(err, "Registration Server stopped serving")
		os.Exit(1)
	}
}

func driverName(address string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	connection, err := grpc.NewClient("unix://"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return "", err
	}
	defer connection.Close()
	info, err := csi.NewIdentityClient(connection).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true))
	return info.GetName(), err
}

func serve(name, endpoint, path string) error {
	if err := removeSocket(path); err != nil {
		return err
	}
	klog.InfoS("Starting Registration Server", "socketPath", path)
	umask := syscall.Umask(0o077)
	listener, err := net.Listen("unix", path)
	syscall.Umask(umask)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	registerapi.RegisterRegistrationServer(server, &registration{info: &registerapi.PluginInfo{
		Type: registerapi.CSIPlugin, Name: name, Endpoint: endpoint, SupportedVersions: []string{"1.0.0"},
	}})
	klog.InfoS("Registration Server started", "socketPath", path)

	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		// By name: this is what takes a successor's socket away.
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			klog.ErrorS(err, "Failed to remove socket with error", "socket", path)
			os.Exit(1)
		}
		os.Exit(0)
	}()
	return server.Serve(listener)
}

func removeSocket(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode()&os.ModeSocket == 0 {
		return fmt.Errorf("file exists in socketPath %s but it's not a socket", path)
	}
	return os.Remove(path)
}

type registration struct {
	registerapi.UnsafeRegistrationServer
	info *registerapi.PluginInfo
}

func (r *registration) GetInfo(context.Context, *registerapi.InfoRequest) (*registerapi.PluginInfo, error) {
	klog.InfoS("Received GetInfo call")
	return r.info, nil
}

func (r *registration) NotifyRegistrationStatus(_ context.Context, status *registerapi.RegistrationStatus) (*registerapi.RegistrationStatusResponse, error) {
	klog.InfoS("Received NotifyRegistrationStatus call", "status", status.String())
	if !status.GetPluginRegistered() {
		klog.ErrorS(errors.New(status.GetError()), "Registration process failed with error, restarting registration container")
		os.Exit(1)
	}
	return &registerapi.RegistrationStatusResponse{}, nil
}
