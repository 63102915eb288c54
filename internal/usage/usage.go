// Package usage has the error for a command that is called wrongly. Packages below the command return it, too, because some
// flags can be checked only against a session.
package usage

import "fmt"

// Error is wrong usage: exit code 2 and a hint to the help.
type Error struct{ Err error }

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap is what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Errorf is an Error with a text of its own.
func Errorf(format string, args ...any) error { return &Error{fmt.Errorf(format, args...)} }
