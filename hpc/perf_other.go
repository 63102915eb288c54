//go:build !linux

package hpc

import "errors"

// perfSource is Linux's.
type perfSource struct{}

func notHere(e Event) error {
	return &NotAvailableError{Event: e, Reason: "threads are observed on Linux only", Err: errors.ErrUnsupported}
}

func (perfSource) Open(_ int, e Event) (Counter, error) { return nil, notHere(e) }

// OpenGroup implements GroupSource.
func (perfSource) OpenGroup(_ int, events []Event) (GroupCounter, error) {
	return nil, notHere(events[0])
}
