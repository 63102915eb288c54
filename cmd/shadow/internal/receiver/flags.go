// Package receiver has the flags that say how to reach a receiver of OTLP.
package receiver

import (
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/exchange/export/otlp"
)

// headersVariable is what OpenTelemetry names it.
const headersVariable = "OTEL_EXPORTER_OTLP_HEADERS"

// Flags say how.
type Flags struct {
	headers  []string
	insecure bool
}

// AddTo adds the flags.
func (f *Flags) AddTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.headers, "otlp-header", nil, "NAME=VALUE: a header for the OTLP receiver; several may be given (a secret is better in $"+headersVariable+": NAME=VALUE,...)")
	cmd.Flags().BoolVar(&f.insecure, "otlp-insecure", false, "send headers over plain HTTP to other machines, too")
}

// Any reports whether one of the flags was given.
func (f *Flags) Any() bool { return len(f.headers) > 0 || f.insecure }

// Client is for the receiver at endpoint, which the flag named flag gave.
func (f *Flags) Client(env console.Env, cmd *cobra.Command, flag, endpoint string) (*otlp.Client, error) {
	headers := map[string]string{}
	for _, pair := range strings.Split(env.Getenv(headersVariable), ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil { // the value is a secret
			return nil, console.Usagef("$%s: want NAME=VALUE,NAME=VALUE, with values that are escaped as in URLs", headersVariable)
		}
		headers[strings.TrimSpace(name)] = value
	}
	for _, pair := range f.headers {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, console.Usagef("--otlp-header: want NAME=VALUE")
		}
		headers[name] = value
	}
	version, _, _ := strings.Cut(cmd.Root().Version, " ")
	c, err := otlp.NewClient(otlp.Options{Endpoint: endpoint, Headers: headers, Insecure: f.insecure, Version: version})
	if err != nil {
		return nil, console.Usagef("--%s: %v", flag, err)
	}
	return c, nil
}
