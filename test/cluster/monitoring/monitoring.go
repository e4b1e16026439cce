// Package monitoring pins the types of the Prometheus Operator, of which build.ts makes the definitions that an API server
// is given.
package monitoring

import _ "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
