package choice

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// AddTrace gives cmd the flag that chooses a trace.
func AddTrace(cmd *cobra.Command, to *string) {
	cmd.Flags().Var((*traceID)(to), "trace", "only executions of the trace with this id, 32 hexadecimal digits (see docs/traces.md)")
}

// traceID is the value of --trace. A script whose variable is empty must not get the whole session.
type traceID string

func (t *traceID) String() string { return string(*t) }
func (t *traceID) Type() string   { return TraceType }

func (t *traceID) Set(value string) error {
	_, err := store.ParseTraceID(value)
	*t = traceID(value)
	return err
}

// NoteTrace says what is not in figures of a trace, or why there are none.
func NoteTrace(env console.Env, s *session.Session, f summary.Filter, sum *summary.Summary) {
	if sum.Trace != nil {
		NoteOfTrace(env, s, f, sum.Tasks.Executions, sum.Trace)
	}
}

// NoteOfTrace is NoteTrace for any figures; shown: executions of the trace that are in them.
func NoteOfTrace(env console.Env, s *session.Session, f summary.Filter, shown int64, t *summary.Trace) {
	switch {
	case !t.Any:
		env.Note("%s", table.Clean(s.WhyNoTraces()))
	case t.All == 0:
		env.Note("no execution is of this trace; shadow tasks DIR --wide shows the trace of each task")
	case shown+t.Parts == 0:
		env.Note("%s", nonePass(f, text.PluralExact(t.All, "execution", "executions")))
	}
	if t.Parts > 0 {
		env.Note("%s not counted: they were in this trace and in others, as the loop of a worker is; shadow tasks DIR --trace ID lists them", text.PluralExact(t.Parts, "execution is", "executions are"))
	}
	if n := s.Manifest.Summarised.Executions; t.Any && n > 0 {
		env.Note("%s in no trace: they were too fast to be recorded one by one", text.PluralExact(n, "execution is", "executions are"))
	}
}

// NoteNoTask says why a listing of the tasks of a trace is empty; all: tasks and executions that were in it.
func NoteNoTask(env console.Env, s *session.Session, f summary.Filter, anyTrace bool, all int64) {
	switch {
	case !anyTrace:
		env.Note("%s", table.Clean(s.WhyNoTraces()))
	case all == 0:
		env.Note("no task is of this trace; without --trace, --wide shows the trace of each task")
	default:
		env.Note("%s", nonePass(f, text.PluralExact(all, "row", "rows")))
	}
}

// nonePass says that the filter leaves out everything that was in the trace.
func nonePass(f summary.Filter, all string) string {
	var by []string
	if f.Class != "" {
		by = append(by, fmt.Sprintf("--class %q", table.Clean(f.Class)))
	}
	if f.App {
		by = append(by, "--app")
	}
	leave := "leaves"
	if len(by) > 1 {
		leave = "leave"
	}
	return fmt.Sprintf("%s %s out all that was in this trace: %s", strings.Join(by, " and "), leave, all)
}

// CheckTrace refuses a malformed id of a trace, and units of a trace.
func CheckTrace(f summary.Filter, inUnits bool) error {
	if f.Trace != "" && inUnits {
		return console.Usagef("--trace and --units exclude each other: %v", summary.ErrTraceUnits)
	}
	if err := f.Check(); err != nil {
		return &console.UsageError{Err: err}
	}
	return nil
}

// TraceType is the type of --trace in the help.
const TraceType = "id"
