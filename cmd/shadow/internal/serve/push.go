package serve

import (
	"os"
	"time"

	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/receiver"
	"stackagent/internal/text"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/exchange/export/otlp"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web"
)

// pushFlags choose where metrics are pushed.
type pushFlags struct {
	endpoint string
	every    time.Duration
	receiver receiver.Flags
	client   *otlp.Client // nil: none are
}

func (f *pushFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.endpoint, "otlp", "", "URL of an OTLP receiver (HTTP), to which the metrics of /metrics are pushed; /v1/metrics is added")
	cmd.Flags().DurationVar(&f.every, "otlp-interval", 10*time.Second, "how often")
	f.receiver.AddTo(cmd)
}

// check makes the client; nil: nothing is to be pushed.
func (f *pushFlags) check(env console.Env, cmd *cobra.Command) (*otlp.Client, error) {
	switch {
	case f.endpoint == "" && (f.receiver.Any() || cmd.Flags().Changed("otlp-interval")):
		return nil, console.Usagef("--otlp-header, --otlp-insecure and --otlp-interval are for --otlp URL")
	case f.endpoint == "":
		return nil, nil
	case f.every < time.Second || f.every > time.Hour:
		return nil, console.Usagef("--otlp-interval %v: want 1s to 1h", f.every)
	}
	return f.receiver.Client(env, cmd, "otlp", f.endpoint)
}

// pusher pushes what /metrics has. Nothing waits for it.
func (f *pushFlags) pusher(env console.Env, l *serveLive, b *bus.Bus, in *ingest.Ingest) *otlp.Pusher {
	began := env.Now()
	host, _ := os.Hostname() // without it the attribute is left out
	p := &otlp.Pusher{Client: f.client, Every: f.every, Changed: func(err error) { f.changed(env, err) }, Partial: func(r otlp.Rejected) { f.partial(env, r) },
		Ended: func(u otlp.Undelivered) { f.ended(env, u) }}
	p.Collect = func() []*metrics.ResourceMetrics {
		now := env.Now()
		var all []*metrics.ResourceMetrics
		more := l.figures.Metrics(func(j live.JVMMetrics) {
			all = append(all, otlp.Families(otlp.Program(j.Session, j.JVM, j.Labels), f.client.Version(), j.Families, j.Since, now))
		})
		own := append(web.OwnMetrics(in.Totals(), l.healthy(b, in) == nil), live.NotListed(more))
		return append(all, otlp.Families(otlp.Shadow(host, os.Getpid()), f.client.Version(), append(own, p.Families()...), began, now))
	}
	return p
}

// changed reports that pushing stopped working, or works again.
func (f *pushFlags) changed(env console.Env, err error) {
	switch {
	case err == nil:
		env.Note("metrics reach %s again", f.client.Endpoint())
	case env.Log != nil:
		env.Log.Warn("metrics do not reach the OTLP receiver; the next push has the same totals", "url", f.client.Endpoint(), "error", err)
	default:
		env.Note("metrics do not reach %s: %s; the next push has the same totals", f.client.Endpoint(), text.OneLine(err.Error()))
	}
}

// ended reports that the figures of the end did not arrive.
func (f *pushFlags) ended(env console.Env, u otlp.Undelivered) {
	did, not, has := "did not reach", "not delivered", "it has none"
	if !u.Since.IsZero() {
		has = "it has those of " + u.Since.Format(time.TimeOnly)
	}
	if u.Unsure {
		did, not = "may not have reached", "not known to be delivered"
		if has += ", or newer ones: it did not answer"; u.Since.IsZero() {
			has = "whether it has any is not known: it did not answer"
		}
	}
	if env.Log != nil {
		env.Log.Warn("the last metrics "+did+" the OTLP receiver: "+has, "url", f.client.Endpoint(), "undelivered_points", u.Points, "error", u.Err)
		return
	}
	env.Note("the last metrics %s %s: %s; %s: %s; %s", did, f.client.Endpoint(), text.OneLine(u.Err.Error()), not, text.PluralExact(u.Points, "data point", "data points"), has)
}

func (f *pushFlags) partial(env console.Env, r otlp.Rejected) {
	if env.Log != nil {
		env.Log.Warn("the OTLP receiver did not take all metrics", "url", f.client.Endpoint(), "rejected_points", r.N, "said", r.Said)
		return
	}
	env.Note("%s did not take %s: %s", f.client.Endpoint(), text.PluralExact(r.N, "data point", "data points"), r.Said)
}
