package rollup

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func startBus(t *testing.T) jetstream.JetStream {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	c, err := nats.Connect(s.ClientURL(), nats.Timeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	js, err := jetstream.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return js
}

func TestLease(t *testing.T) {
	js, ctx := startBus(t), t.Context()
	inside := false
	ran, err := WithLease(ctx, js, "compaction", "a", func(context.Context) error {
		inside = true
		ran, err := WithLease(ctx, js, "compaction", "b", func(context.Context) error { t.Error("two have the lease"); return nil })
		if ran || err != nil {
			t.Errorf("b ran: %v, %v", ran, err)
		}
		if ran, err := WithLease(ctx, js, "other", "b", func(context.Context) error { return nil }); !ran || err != nil {
			t.Errorf("another lease: %v, %v", ran, err)
		}
		return nil
	})
	if !ran || err != nil || !inside {
		t.Fatalf("a: %v, %v", ran, err)
	}
	if ran, err := WithLease(ctx, js, "compaction", "b", func(context.Context) error { return nil }); !ran || err != nil {
		t.Errorf("after a: %v, %v", ran, err)
	}
}

// TestLeaseLost: who lost the lease stops.
func TestLeaseLost(t *testing.T) {
	js, ctx := startBus(t), t.Context()
	_, err := withLease(ctx, js, "compaction", "a", 400*time.Millisecond, func(held context.Context) error {
		kv, err := js.KeyValue(ctx, LeaseBucket)
		if err != nil {
			return err
		}
		if _, err := kv.Put(ctx, "compaction", []byte("b")); err != nil {
			return err
		}
		<-held.Done()
		return context.Cause(held)
	})
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the loss is reported as %v", err)
	}
}
