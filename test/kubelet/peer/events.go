package main

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"
)

// The events, each with "at", milliseconds since the epoch:
//
//	kubelet.started      registry                      the plugin manager runs
//	kubelet.failed       error                         it could not start; exit 1
//	plugin.validated     driver, endpoint, versions    GetInfo has been answered and ValidatePlugin said yes
//	plugin.registered    driver, endpoint              RegisterPlugin said yes; Notify(true) follows
//	plugin.refused       driver, endpoint, error       ValidatePlugin or RegisterPlugin said no; Notify(false) follows
//	plugin.deregistered  driver, endpoint
//	node.changed         drivers, nodeIDs              the drivers of the CSINode and the node's annotation, as stored
//	refusals.armed       times                         the answer to the command "refuse"
type fields map[string]any

var stdout sync.Mutex

func say(event string, more fields) {
	line := fields{"at": float64(time.Now().UnixMicro()) / 1000, "event": event}
	for key, value := range more {
		line[key] = value
	}
	text, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	stdout.Lock()
	defer stdout.Unlock()
	fmt.Fprintln(os.Stdout, string(text))
}
