package sched

// UnavailableError says that a source of the record is not available here.
type UnavailableError struct {
	What   string // "eBPF", "switch records of perf"
	Reason string // one sentence without a full stop
	Remedy string // what would help; may be empty
	Err    error  // the cause; may be nil
}

func (e *UnavailableError) Error() string {
	s := e.What + " not available: " + e.Reason
	if e.Remedy != "" {
		s += " (" + e.Remedy + ")"
	}
	return s
}

// Unwrap returns the cause.
func (e *UnavailableError) Unwrap() error { return e.Err }
