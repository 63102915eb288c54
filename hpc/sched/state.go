package sched

import "fmt"

var stateNames = [NStates]string{"unknown", "running", "runnable", "futex", "io", "sleeping", "blocked"}

// String is the state's name in tables and columns.
func (s State) String() string {
	if s < NStates {
		return stateNames[s]
	}
	return fmt.Sprintf("state %d", uint8(s))
}

// MarshalText writes the name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
