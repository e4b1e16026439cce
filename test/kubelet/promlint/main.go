// Command promlint reads a scrape from stdin with Prometheus' own parser, and prints what Prometheus' linter has against
// it, a line each. It exits with 0 when there is nothing, with 1 when there is, and with 2 when this is no scrape.
package main

import (
	"fmt"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func main() {
	problems, err := promlint.New(os.Stdin).Lint()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, problem := range problems {
		fmt.Printf("%s: %s\n", problem.Metric, problem.Text)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}
