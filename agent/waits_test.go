package agent

import (
	"maps"
	"slices"
	"testing"
	"time"

	"stackagent/agent/options"
	"stackagent/internal/settings"
	"stackagent/internal/wire"
)

// A session says which waits it lacks, and why.
func TestDescribeWaits(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		options options.Options
		sleeps  bool
		sources []string
		missing map[string]string
	}{
		{options.Options{Settings: settings.Settings{Wait: ms}}, true, []string{"monitor", "notify", "park", "io", "sleep"}, nil},
		{options.Options{Settings: settings.Settings{Wait: ms}}, false, []string{"monitor", "notify", "park", "io"}, map[string]string{"waits: sleep": "this JDK has a Thread.sleep that the agent does not know"}},
		{options.Options{Settings: settings.Settings{Wait: ms}, Exclude: []string{"a.B", "java.util.concurrent.*"}}, true, []string{"monitor", "notify", "io", "sleep"},
			map[string]string{"waits: park": "exclude=java.util.concurrent.* leaves java.util.concurrent.locks.LockSupport as it is"}},
		{options.Options{Exclude: []string{"java.*"}}, false, nil, nil},
	} {
		h := &wire.Hello{}
		describeWaits(h, &c.options, c.sleeps)
		if int64(h.WaitLimit) != int64(c.options.Wait) || !slices.Equal(h.WaitSources, c.sources) || !maps.Equal(h.NotAvailable, c.missing) {
			t.Errorf("%+v: %+v", c.options, h)
		}
	}
}
