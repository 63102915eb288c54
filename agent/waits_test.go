package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/agent/options"
	"stackagent/internal/wire"
)

// A session says which waits it lacks, and why.
func TestDescribeWaits(t *testing.T) {
	for _, c := range []struct {
		options options.Options
		sources []string
		missing string
	}{
		{options.Options{Wait: time.Millisecond}, []string{"park"}, ""},
		{options.Options{Wait: time.Millisecond, Exclude: []string{"java.util.concurrent.*"}}, nil, "exclude=java.util.concurrent.*"},
		{options.Options{Exclude: []string{"java.*"}}, nil, ""},
	} {
		h := &wire.Hello{}
		describeWaits(h, &c.options)
		if int64(h.WaitLimit) != int64(c.options.Wait) || !slices.Equal(h.WaitSources, c.sources) || !strings.HasPrefix(h.NotAvailable["waits: park"], c.missing) ||
			(h.NotAvailable["waits: park"] != "") != (c.missing != "") {
			t.Errorf("%+v: %+v", c.options, h)
		}
	}
}
