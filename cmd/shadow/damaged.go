package main

import (
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"stackagent/shadow/session"
)

// reading is how a verb reads sessions, and those that it has read.
type reading struct {
	damaged bool // read what is left of damaged ones

	mu       sync.Mutex
	sessions []*session.Session
}

// readingVerbs read sessions and print of them; damage ends them.
var readingVerbs = []string{"stats", "tasks", "hotspots", "threads", "report", "bottle", "stack", "gc", "tgp"}

// addFlag gives the verbs that read sessions the flag --damaged.
func (r *reading) addFlag(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if slices.Contains(readingVerbs, cmd.Name()) {
			cmd.PersistentFlags().BoolVar(&r.damaged, "damaged", false,
				"read what is left of a session of which files are damaged, missing or exchanged; without it that is an error")
		}
	}
}

// open opens a session. A nil reading allows no damage.
func (r *reading) open(dir string) (*session.Session, error) {
	if r == nil {
		return session.Open(dir)
	}
	if r.damaged {
		return session.OpenDamaged(dir)
	}
	s, err := session.Open(dir)
	if err == nil {
		r.mu.Lock()
		r.sessions = append(r.sessions, s)
		r.mu.Unlock()
	}
	return s, err
}

// forget lets go of the sessions: cobra keeps a command and what it refers to until the process ends.
func (r *reading) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions = nil
}

// err is damage that a verb has met and gone on without.
func (r *reading) err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sessions {
		if err := s.Err(); err != nil {
			return err
		}
	}
	return nil
}
