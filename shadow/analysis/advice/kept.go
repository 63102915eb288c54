package advice

import (
	"fmt"

	"stackagent/internal/units"
)

// Kept are cancelled tasks of a class that a ScheduledThreadPoolExecutor keeps until they are due.
type Kept struct {
	Class    string `json:"class"`
	Executor string `json:"executor"`
	Tasks    int64  `json:"tasks"`
	AtLeast  bool   `json:"at_least,omitempty"` // some submissions were summarised, and may be of more
	Subclass bool   `json:"subclass,omitempty"` // the executor is one of the program's own classes
}

func keptCancelled(s *search) (list []Finding) {
	for i := range s.Kept {
		k := s.Kept[i]
		if k.AtLeast = s.Submissions != nil && s.Submissions.Summarised > 0; k.Tasks >= max(1, s.t.KeptTasks) && len(list) < maxNamed {
			list = append(list, Finding{Class: k.Class, Evidence: &k})
		}
	}
	return list
}

func (e *Kept) title(*Finding) string {
	least := ""
	if e.AtLeast {
		least = "at least "
	}
	return fmt.Sprintf("%s keeps %s%s cancelled tasks of %s", e.Executor, least, units.FormatExact(e.Tasks), e.Class)
}

func (e *Kept) sentence(f *Finding) string { return e.title(f) + ". " + e.happened() }

func (e *Kept) happened() string {
	return "A cancelled task stays in its queue until the time at which it would have run: these had not left it at the end of the recording. They cost memory, and each new task a longer search for its place."
}

func (e *Kept) remedy() string {
	s := "Call setRemoveOnCancelPolicy(true) of the ScheduledThreadPoolExecutor: it then removes a task when it is cancelled."
	if e.Subclass {
		s += " A task that decorateTask wraps has to remove itself: call remove(this) in its cancel()."
	}
	return s
}

// PoolLabel is the label of the executor that it is about.
func (e *Kept) PoolLabel() string { return e.Executor }
