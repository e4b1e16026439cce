// Command pause is the first process of a PID namespace in which others do the work: it reaps what has lost its parent, and
// ends on SIGTERM and SIGINT. Both the pods and the node of this suite have one.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT)
	// What has died before is told by no signal any more.
	for reap(); <-signals == syscall.SIGCHLD; {
		reap()
	}
}

func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			return
		}
	}
}
