package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/testnats"
)

// An answer that is late is asked for again, whatever says no is not,
// nor one that the server refuses to give.
func TestPatiently(t *testing.T) {
	refused := errors.New("no")
	for name, c := range map[string]struct {
		errs []error
		want error
		made int
	}{
		"at once":      {[]error{nil}, nil, 1},
		"second":       {[]error{fmt.Errorf("asking: %w", context.DeadlineExceeded), nil}, nil, 2},
		"third":        {[]error{os.ErrDeadlineExceeded, nats.ErrTimeout, nil}, nil, 3},
		"never":        {[]error{nats.ErrTimeout, nats.ErrTimeout, nats.ErrTimeout, nil}, nats.ErrTimeout, 3},
		"no":           {[]error{refused, nil}, refused, 1},
		"late, and no": {[]error{nats.ErrTimeout, refused, nil}, refused, 2},
		"no leader":    {[]error{fmt.Errorf("asking: %w", jetstream.ErrNoStreamResponse), nats.ErrTimeout, nats.ErrTimeout, nil}, nil, 4},
		"may not ask":  {[]error{errors.Join(nats.ErrPermissionViolation, context.DeadlineExceeded), nil}, nats.ErrPermissionViolation, 1},
	} {
		made := 0
		err := Patiently(func() error { made++; return c.errs[made-1] })
		if made != c.made || !errors.Is(err, c.want) {
			t.Errorf("%s: asked %d times, %v; want %d, %v", name, made, err, c.made, c.want)
		}
	}
}

// While a cluster elects the leader of a table, a row cannot be written; a shadow that starts then waits for it.
func TestPatientlyWithoutLeader(t *testing.T) {
	t.Parallel()
	c := testnats.Start(t, testnats.Options{Nodes: 3})
	c.Ready(t)
	b, err := Join(JoinOptions{URL: c.URL()})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	kv, err := b.JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "TABLE", Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	c.Leader(t, "KV_TABLE").Kill()
	tries := 0
	err = Patiently(func() error {
		tries++
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := kv.PutString(ctx, "row", "value")
		return err
	})
	if err != nil || tries == 1 {
		t.Errorf("after %d tries: %v; want a row after several", tries, err)
	}
}
