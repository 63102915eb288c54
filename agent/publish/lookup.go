package publish

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// The threads of the library are made before the program runs (jvmti/life_go_threads.c), so
// what can block one is bounded in the whole process, ended sessions included: a
// look-up by the C library, and a disk that does not answer.
const (
	mostLookups = 1
	mostDisks   = 2
)

var (
	lookups = make(chan struct{}, mostLookups)
	disks   = make(chan struct{}, mostDisks)
)

// errLookups is returned while an earlier look-up has no answer.
var errLookups = errors.New("an earlier look-up has no answer yet")

// late holds answers that arrived after their caller gave up, by host.
var late = struct {
	sync.Mutex
	of map[string][]string
}{of: map[string][]string{}}

func takeLate(host string) []string {
	late.Lock()
	defer late.Unlock()
	addresses := late.of[host]
	delete(late.of, host)
	return addresses
}

// resolve looks up the addresses of a host; tests replace it.
var resolve = net.DefaultResolver.LookupHost

// lookup returns the addresses of host in any order. A look-up that takes longer than
// timeout cannot be stopped: its answer serves the next call.
func lookup(host string, timeout time.Duration) ([]string, error) {
	if addresses := takeLate(host); len(addresses) > 0 {
		return addresses, nil
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case lookups <- struct{}{}:
		if addresses := takeLate(host); len(addresses) > 0 { // it has arrived meanwhile
			<-lookups
			return addresses, nil
		}
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
		if err == nil {
			late.Lock()
			late.of[host] = addresses
			late.Unlock()
		}
		<-lookups
		found <- answer{addresses, err}
	}()
	select {
	case a := <-found:
		takeLate(host)
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
	if len(addresses) == 0 {
		return nil, fmt.Errorf("looking up %s: it has no address", host)
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
