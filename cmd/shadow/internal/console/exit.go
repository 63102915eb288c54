package console

import (
	"fmt"

	"stackagent/internal/usage"
)

// Exit codes that are promised to scripts.
const (
	ExitFailure = 1 // a failure that is explained on stderr
	ExitUsage   = 2 // wrong usage
	ExitBroken  = 3 // shadow check: a budget is broken
)

// UsageError is wrong usage: exit code 2 and a hint to the help.
type UsageError = usage.Error

// Usagef is a UsageError with a text of its own.
func Usagef(format string, args ...any) error { return usage.Errorf(format, args...) }

// ExitError ends the command with another program's exit code, which is explained already.
type ExitError struct{ Code int }

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }
