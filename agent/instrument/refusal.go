package instrument

import (
	"errors"
	"fmt"

	"stackagent/agent/classfile"
)

// Reason says why a class kept its bytes. Reasons are counted and shown to the
// user, so their texts are stable.
type Reason string

// The reasons of a Refusal.
const (
	ReasonBadClass      Reason = "bad class file"
	ReasonVersion       Reason = "unsupported class file version"
	ReasonSubroutine    Reason = "method with jsr or ret"
	ReasonMethodSize    Reason = "method too large"
	ReasonJIT           Reason = "method too large for the JIT with probes"
	ReasonPoolFull      Reason = "constant pool full"
	ReasonThisLost      Reason = "constructor overwrites this"
	ReasonBadCode       Reason = "code that no verifier accepts"
	ReasonHierarchy     Reason = "supertype unknown"
	ReasonAlreadyWoven  Reason = "already woven"
	ReasonFieldConflict Reason = "a field has the name of ours"

	// A method that the user named.
	ReasonStatic Reason = "a static method cannot be a task: name an instance method"

	// Single methods, in classes whose other methods are counted.
	ReasonCountSize       Reason = "bytecodes of a method not counted: too large with the counting"
	ReasonCountCoarse     Reason = "bytecodes of a method counted by whole blocks: near the size that the JIT compiles"
	ReasonCountSubroutine Reason = "bytecodes of a method not counted: jsr or ret"
)

// A Refusal is the error that NewPlan and Plan.Weave return for a class that
// must keep its bytes.
type Refusal struct {
	Reason Reason
	Class  string // internal name; "" if it could not be read
	Member string // name and descriptor of the method, if only that is left as it is
	Detail string
	Err    error // the cause, if there is one
}

// Error implements error.
func (r *Refusal) Error() string {
	name := r.Class
	if name == "" {
		name = "(unnamed class)"
	}
	s := fmt.Sprintf("class %s keeps its bytes: %s", name, r.Reason)
	if r.Detail != "" {
		s += ": " + r.Detail
	}
	return s
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Err }

func refuse(class string, reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Class: class, Detail: fmt.Sprintf(format, args...)}
}

// refusal turns an error of the classfile package into a typed refusal. What is
// not supported depends on where it was met: the version of a class when it is
// parsed, subroutines when code is decoded.
func refusal(class string, err error, whatUnsupported Reason) *Refusal {
	r := &Refusal{Reason: ReasonBadClass, Class: class, Detail: err.Error(), Err: err}
	var unsupported *classfile.UnsupportedError
	var large *classfile.TooLargeError
	var full *classfile.PoolFullError
	switch {
	case errors.As(err, &unsupported):
		r.Reason = whatUnsupported
	case errors.As(err, &large):
		r.Reason = ReasonMethodSize
	case errors.As(err, &full):
		r.Reason = ReasonPoolFull
	}
	return r
}
