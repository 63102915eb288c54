package publish

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"
)

// The threads of the library are made before the program runs (jvmti/spares.c), so
// what can hold one is bounded in the whole process, sessions that have ended
// included: a look-up that is asked of the C library, and a disk that does not answer.
const (
	mostLookups = 1
	mostDisks   = 2
)

var (
	lookups = make(chan struct{}, mostLookups)
	disks   = make(chan struct{}, mostDisks)
)

// errLookups is given while an earlier look-up has no answer.
var errLookups = errors.New("an earlier look-up has no answer yet")

// resolve asks for the addresses of a host; tests replace it.
var resolve = net.DefaultResolver.LookupHost

// lookup gives the addresses of host in any order. A look-up that takes longer
// goes on: nothing can end it.
func lookup(host string, timeout time.Duration) ([]string, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case lookups <- struct{}{}:
	case <-timer.C:
		return nil, fmt.Errorf("looking up %s: %w", host, errLookups)
	}
	type answer struct {
		addresses []string
		err       error
	}
	found := make(chan answer, 1)
	go func() {
		addresses, err := resolve(context.Background(), host)
		<-lookups
		found <- answer{addresses, err}
	}()
	select {
	case a := <-found:
		rand.Shuffle(len(a.addresses), func(i, j int) { a.addresses[i], a.addresses[j] = a.addresses[j], a.addresses[i] })
		return a.addresses, a.err
	case <-timer.C:
		return nil, fmt.Errorf("looking up %s: no answer in %v", host, timeout)
	}
}

// dial dials the addresses of a host in turn.
func (d boundedDialer) dial(network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil || net.ParseIP(host) != nil {
		return d.CustomDialer.Dial(network, address)
	}
	addresses, err := lookup(host, connectTimeout)
	if err != nil {
		return nil, err
	}
	var failed []error
	for _, a := range addresses {
		c, err := d.CustomDialer.Dial(network, net.JoinHostPort(a, port))
		if err == nil {
			return c, nil
		}
		failed = append(failed, err)
	}
	return nil, errors.Join(failed...)
}
