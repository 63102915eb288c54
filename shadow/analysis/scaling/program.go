package scaling

import (
	"fmt"
	"path"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// Program is what two runs of a program have in common.
type Program struct {
	Main string // main class or JAR file
	// Tasks are the program's own classes of tasks that were executed, Executions the
	// executions of those that are no threads.
	Tasks      []string
	Executions uint64
}

// ProgramOf says which program a session is of.
func ProgramOf(s *session.Session) (*Program, error) {
	counts, _, err := s.Counts()
	if err != nil {
		return nil, fmt.Errorf("session %s: counting its tasks: %w", s.Manifest.Session, err)
	}
	p := &Program{Main: path.Base(s.Manifest.JVM.MainClass)}
	if s.Manifest.JVM.MainClass == "" {
		p.Main = ""
	}
	for _, c := range counts {
		if c.Executions == 0 || unit.IsJDK(c.Class.Name, c.Class.Kinds) || unit.IsLibrary(c.Class.Name) {
			continue
		}
		p.Tasks = append(p.Tasks, c.Class.Name)
		if c.Class.Kinds&units.KindThread == 0 {
			p.Executions += c.Executions
		}
	}
	return p, nil
}

// Unlike says why q is not the same program; "": it may be. Arguments and the JVM's
// options may differ.
func (p *Program) Unlike(q *Program) string {
	if p.Main != "" && q.Main != "" && p.Main != q.Main {
		return fmt.Sprintf("%s and %s", p.Main, q.Main)
	}
	both := slices.ContainsFunc(p.Tasks, func(class string) bool { return slices.Contains(q.Tasks, class) })
	if len(p.Tasks) > 0 && len(q.Tasks) > 0 && !both {
		return fmt.Sprintf("no class of tasks is in both, as %s and %s", p.Tasks[0], q.Tasks[0])
	}
	return ""
}

const (
	// otherWork is how many times as many executions are other work: how often a
	// program divides the same work may depend on the number of threads.
	otherWork = 1.5
	// fewExecutions: a difference of so many says nothing.
	fewExecutions = 100
)

// OtherWork says how q's work differs in quantity from p's; "": not by much.
func (p *Program) OtherWork(q *Program) string {
	less, more := min(p.Executions, q.Executions), max(p.Executions, q.Executions)
	if less == 0 || more-less < fewExecutions || float64(more) < otherWork*float64(less) {
		return ""
	}
	return fmt.Sprintf("executes %d of the program's tasks, the base %d: if this is not the same work, the speedup says nothing", q.Executions, p.Executions)
}
