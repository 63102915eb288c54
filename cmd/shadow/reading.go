package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"stackagent/shadow/session"
	"stackagent/shadow/summary"
)

const (
	barFrom = 2 * time.Second // what is done sooner needs no bar
	barStep = 100 * time.Millisecond
)

// condense builds a summary and shows how far it is where somebody may be
// waiting: on a terminal, and if it takes long.
func condense(env Env, s *session.Session, o summary.Options) (*summary.Summary, error) {
	if f, ok := env.Err.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		b := &bar{env: env, next: env.Now().Add(barFrom)}
		o.Progress = b.show
		defer b.clear()
	}
	return summary.Build(s, o)
}

// bar is a line of progress that is written over.
type bar struct {
	env   Env
	mu    sync.Mutex
	next  time.Time
	drawn bool
}

const (
	barWidth  = 30
	clearLine = "\r\x1b[K"
)

func (b *bar) show(what string, done, total uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.env.Now()
	if now.Before(b.next) || total == 0 {
		return
	}
	b.next, b.drawn = now.Add(barStep), true
	full := int(barWidth * min(done, total) / total)
	fmt.Fprintf(b.env.Err, "%sshadow: %s [%-*s] %d %%", clearLine, what, barWidth, stripe(full), 100*min(done, total)/total)
}

func stripe(n int) string { return "=============================="[:n] }

func (b *bar) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn {
		fmt.Fprint(b.env.Err, clearLine)
	}
}
