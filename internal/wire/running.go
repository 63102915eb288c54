package wire

import (
	"fmt"
	"strconv"

	"stackagent/internal/units"
)

// RunningReport is what platform threads were executing at a moment. It says what runs now; whether an execution
// is a record or in a summary when it ends is another matter.
type RunningReport struct {
	At      units.Ticks
	Threads []RunningThread
	More    uint64 // threads that execute something and are not listed
}

// RunningThread has the outermost executions of a thread, at most MaxRunning.
type RunningThread struct {
	Thread     uint32
	Executions []RunningExecution
}

// RunningExecution is an execution that has not ended.
type RunningExecution struct {
	TaskID uint64
	Class  uint32
	Start  units.Ticks
}

// Limits of a report.
const (
	MaxRunning        = 6 // executions of a thread
	MaxRunningThreads = 1024
)

func (x *RunningReport) check() error {
	if x == nil {
		return nil
	}
	if len(x.Threads) > MaxRunningThreads {
		return fmt.Errorf("%d threads that execute something: %w", len(x.Threads), ErrTooMany)
	}
	for i := range x.Threads {
		if n := len(x.Threads[i].Executions); n > MaxRunning {
			return fmt.Errorf("%d executions of a thread: %w", n, ErrTooMany)
		}
	}
	return nil
}

func (w *writer) running(x *RunningReport) {
	w.arrayLen(3)
	w.uint(uint64(x.At))
	w.uint(x.More)
	each(w, x.Threads, func(w *writer, t *RunningThread) {
		w.arrayLen(2)
		w.uint(uint64(t.Thread))
		each(w, t.Executions, func(w *writer, e *RunningExecution) {
			w.arrayLen(3)
			w.uint(e.TaskID)
			w.uint(uint64(e.Class))
			w.uint(uint64(x.At - min(e.Start, x.At)))
		})
	})
}

func (r *reader) running() *RunningReport {
	end := r.fields("running", 3)
	x := &RunningReport{At: units.Ticks(r.uint("running.at")), More: r.uint("running.more")}
	x.Threads = listOf(r, "running.threads", func(r *reader, field string) (t RunningThread) {
		end := r.fields(field, 2)
		t.Thread = uint32(r.uintMax(field+".thread", 1<<32-1))
		t.Executions = listOf(r, field+".executions", func(r *reader, field string) (e RunningExecution) {
			end := r.fields(field, 3)
			e.TaskID = r.uint(field + ".task")
			e.Class = uint32(r.uintMax(field+".class", 1<<32-1))
			e.Start = x.At - units.Ticks(min(r.uint(field+".age"), uint64(x.At)))
			end()
			return e
		})
		if r.err == nil && len(t.Executions) > MaxRunning {
			r.fail(field, strconv.Itoa(len(t.Executions))+" executions", nil)
		}
		end()
		return t
	})
	if r.err == nil && len(x.Threads) > MaxRunningThreads {
		r.fail("running.threads", strconv.Itoa(len(x.Threads))+" threads", nil)
	}
	end()
	return x
}
