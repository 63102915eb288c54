package console

import "fmt"

// UsageError is wrong usage: exit code 2 and a hint to the help.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef is a UsageError with a text of its own.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }
