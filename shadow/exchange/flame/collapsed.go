package flame

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
)

// Unknown replaces an unknown frame.
const Unknown = "(frame unknown)"

// Cut replaces frames deeper than a context records.
const Cut = "(deeper frames not recorded)"

// stackFrames are the names of a stack, outermost first.
func stackFrames(s *summary.Stack) []string {
	var out []string
	if s.Executor != "" {
		out = append(out, s.Executor)
	}
	if s.Site != nil {
		out = append(out, s.Site.Label())
	} else if s.Where != "" {
		out = append(out, s.Where)
	}
	return append(out, s.Class)
}

// frame makes a name safe in a line of frames: without control characters and without
// semicolons, which separate frames.
var frame = strings.NewReplacer(";", ":", "\n", "?", "\r", "?")

// Collapsed writes a line per stack, frames outermost first, and the self
// work in microseconds.
func Collapsed(w io.Writer, stacks []summary.Stack) error {
	cpu := hasCPU(stacks)
	for i := range stacks {
		s := &stacks[i]
		names := stackFrames(s)
		for k, n := range names {
			names[k] = frame.Replace(text.Clean(n, '?'))
		}
		work := s.SelfWall
		if cpu {
			work = s.SelfCPU
		}
		if _, err := fmt.Fprintf(w, "%s %d\n", strings.Join(names, ";"), (work+500)/1000); err != nil {
			return fmt.Errorf("writing stacks: %w", err)
		}
	}
	return nil
}

func hasCPU(stacks []summary.Stack) bool {
	for i := range stacks {
		if stacks[i].SelfCPU > 0 {
			return true
		}
	}
	return false
}

// Frames are the names of a stack, outermost first, without lines, and
// the task's class at the end: what flame graphs show.
func Frames(c *summary.Context) []string {
	out := make([]string, 0, len(c.Frames)+2)
	if c.Cut {
		out = append(out, Cut)
	}
	return append(appendFrames(out, c.Frames), frame.Replace(text.Clean(c.ClassName, '?')))
}

// appendFrames appends the names of frames that are innermost first.
func appendFrames(out []string, frames []*session.Site) []string {
	for _, f := range slices.Backward(frames) {
		name := Unknown
		if f != nil && f.Class != "" && f.Method != "" {
			name = f.Class + "." + f.Method
		}
		out = append(out, frame.Replace(text.Clean(name, '?')))
	}
	return out
}

// CollapsedWaits writes a line per stack on which threads waited, what they waited for at its end, with the time in
// microseconds.
func CollapsedWaits(w io.Writer, stacks []*wait.Stack) error {
	for _, s := range stacks {
		names := appendFrames(nil, s.Frames)
		if names == nil {
			names = []string{Unknown}
		}
		names = append(names, frame.Replace(text.Clean(s.Class, '?')))
		if _, err := fmt.Fprintf(w, "%s %d\n", strings.Join(names, ";"), microseconds(s.WaitedNs)); err != nil {
			return fmt.Errorf("writing stacks: %w", err)
		}
	}
	return nil
}

// CollapsedContexts writes a line per stack on which tasks were executed, with the self
// work in microseconds.
func CollapsedContexts(w io.Writer, contexts []summary.Context) error {
	cpu := contextsHaveCPU(contexts)
	for i := range contexts {
		c := &contexts[i]
		if !c.Executes() {
			continue
		}
		work := c.SelfWall
		if cpu {
			work = max(0, c.SelfCPU)
		}
		if _, err := fmt.Fprintf(w, "%s %d\n", strings.Join(Frames(c), ";"), microseconds(work)); err != nil {
			return fmt.Errorf("writing stacks: %w", err)
		}
	}
	return nil
}

// microseconds rounds n to microseconds.
func microseconds(n units.Ns) int64 { return int64(n/1000) + int64(n%1000+500)/1000 }

func contextsHaveCPU(contexts []summary.Context) bool {
	return slices.ContainsFunc(contexts, func(c summary.Context) bool { return c.SelfCPU > 0 })
}
