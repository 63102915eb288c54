// Package leftover brings to a bus what agents have left in spool files: those
// of JVMs that ended, or were killed, while their bus was away.
package leftover

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/spool"
	"stackagent/internal/text"
	"stackagent/internal/wire"
)

// Result is what became of one file.
type Result struct {
	Path    string
	Session string
	Batches int    // delivered, ones that had been delivered before included
	Damaged int    // not whole any more: their events are counted as lost by the session's own sums
	Kept    string // where the file is, if some are; else it is deleted
}

const (
	retryPause = 500 * time.Millisecond
	answerTime = 5 * time.Second
)

// Deliver publishes the batches of a file and deletes it when the bus has taken
// all of them; one with damaged batches is kept under another name. What the bus has already got, it recognises by the message id or
// the store by the sequence number. While the bus refuses, it tries again
// until ctx ends; the file stays then.
func Deliver(ctx context.Context, js jetstream.JetStream, l *spool.Left) (Result, error) {
	r := Result{Path: l.Path(), Session: l.Meta.Session, Damaged: l.Damaged}
	for _, ref := range l.Batches {
		data, err := l.Read(ref)
		if errors.Is(err, spool.ErrDamaged) {
			r.Damaged++
			continue
		}
		if err == nil {
			err = send(ctx, js, l.Meta, data)
		}
		if err != nil {
			return r, fmt.Errorf("delivering batch %d of %s: %w", ref.Seq(), l.Path(), errors.Join(err, l.Close()))
		}
		r.Batches++
	}
	if r.Damaged == 0 {
		return r, l.Remove()
	}
	var err error
	r.Kept, err = l.Keep()
	return r, err
}

func send(ctx context.Context, js jetstream.JetStream, m spool.Meta, data []byte) error {
	msg := nats.NewMsg(wire.Subject(m.Session))
	msg.Data = data
	if m.Process != "" {
		msg.Header.Set(wire.ProcessHeader, m.Process)
	}
	// What is delivered twice has the same id, which nobody can guess who does not have the batch itself.
	id := fmt.Sprintf("%x", sha256.Sum256(data))
	for {
		err := sendOnce(ctx, js, msg, id)
		if err == nil || errors.Is(err, nats.ErrMaxPayload) {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the bus does not take it: %w", err)
		case <-time.After(retryPause):
		}
	}
}

func sendOnce(ctx context.Context, js jetstream.JetStream, msg *nats.Msg, id string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	_, err := js.PublishMsg(ctx, msg, jetstream.WithMsgID(id))
	return err
}

// SameBus reports whether one of the URLs that an agent was given is one of the
// bus at address: the same server, under whichever of this machine's names.
// Both are lists joined with ','.
func SameBus(given, address string) bool {
	for _, a := range strings.Split(address, ",") {
		for _, g := range strings.Split(given, ",") {
			if sameServer(g, a) {
				return true
			}
		}
	}
	return false
}

func sameServer(a, b string) bool {
	u, err := url.Parse(a)
	v, err2 := url.Parse(b)
	if err != nil || err2 != nil || u.Host == "" {
		return false
	}
	return u.Host == v.Host || u.Port() == v.Port() && local(u.Hostname()) && local(v.Hostname())
}

// local reports whether host is this machine.
func local(host string) bool {
	if name, err := os.Hostname(); host == "localhost" || err == nil && host == name {
		return true
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return false
	}
	if ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return false
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.Equal(ip) {
			return true
		}
	}
	return false
}

// Err is the error of a file that could not be delivered whole.
func (r Result) Err() error {
	if r.Damaged == 0 {
		return nil
	}
	return fmt.Errorf("%s was delivered in part: %s damaged; the file is kept as %s", r.Path,
		text.PluralExact(r.Damaged, "batch is", "batches are"), r.Kept)
}
