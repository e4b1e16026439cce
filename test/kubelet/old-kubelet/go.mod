module old-kubelet

go 1.21

require (
	google.golang.org/grpc v1.56.3
	k8s.io/kubelet v0.28.15
)

require (
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.4 // indirect
	golang.org/x/net v0.23.0 // indirect
	golang.org/x/sys v0.18.0 // indirect
	golang.org/x/text v0.14.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20230525234030-28d5490b6b19 // indirect
	google.golang.org/protobuf v1.33.0 // indirect
)

replace google.golang.org/genproto => google.golang.org/genproto v0.0.0-20230526161137-0005af68ea54
