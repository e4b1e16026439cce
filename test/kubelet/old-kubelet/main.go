// Command old-kubelet does once what the plugin manager of a kubelet before 1.29 does with a registration socket: it
// dials the bare path with grpc-go 1.56, which sends the raw path as :authority, calls GetInfo and then Notify on the same
// connection, within that kubelet's limits.
//
// It prints the PluginInfo as one line of JSON. Exit 0: both calls were answered OK; 1: not, with the step and the reason
// on stderr.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	registerapi "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// The limits in pkg/kubelet/pluginmanager/operationexecutor, the same in 1.20 to 1.28.
const (
	dialTimeout    = 10 * time.Second
	getInfoTimeout = time.Second
	notifyTimeout  = 5 * time.Second
)

func main() {
	socket := flag.String("socket", "", "path of the registration socket")
	refusal := flag.String("refusal", "", "refuse the registration with this text; accept it when empty")
	flag.Parse()

	connection, err := dial(*socket)
	orFail("dial", err)
	defer connection.Close()
	client := registerapi.NewRegistrationClient(connection)

	ctx, cancel := context.WithTimeout(context.Background(), getInfoTimeout)
	defer cancel()
	info, err := client.GetInfo(ctx, &registerapi.InfoRequest{})
	orFail("GetInfo", err)
	text, err := json.Marshal(info)
	orFail("GetInfo", err)
	fmt.Println(string(text))

	ctx, cancel = context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	_, err = client.NotifyRegistrationStatus(ctx, &registerapi.RegistrationStatus{PluginRegistered: *refusal == "", Error: *refusal})
	orFail("NotifyRegistrationStatus", err)
}

func dial(socket string) (*grpc.ClientConn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	return grpc.DialContext(ctx, socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithBlock(),
		grpc.WithContextDialer(func(ctx context.Context, path string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}))
}

func orFail(step string, err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", step, err)
		os.Exit(1)
	}
}
