package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// A command is one of
//
//	{"command":"refuse","times":N,"text":"..."}   the next N RegisterPlugin calls fail with this text
type command struct {
	Command string `json:"command"`
	Times   int    `json:"times"`
	Text    string `json:"text"`
}

func takeCommands(from io.Reader, handler *observedHandler) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil || c.Command != "refuse" {
			fmt.Fprintf(os.Stderr, "not a command: %s\n", lines.Text())
			continue
		}
		handler.refuse(c.Times, c.Text)
		say("refusals.armed", fields{"times": c.Times})
	}
}
