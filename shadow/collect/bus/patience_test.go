package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/nats-io/nats.go"
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
		"may not ask":  {[]error{errors.Join(nats.ErrPermissionViolation, context.DeadlineExceeded), nil}, nats.ErrPermissionViolation, 1},
	} {
		made := 0
		err := Patiently(func() error { made++; return c.errs[made-1] })
		if made != c.made || !errors.Is(err, c.want) {
			t.Errorf("%s: asked %d times, %v; want %d, %v", name, made, err, c.made, c.want)
		}
	}
}
