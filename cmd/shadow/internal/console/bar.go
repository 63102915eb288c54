package console

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	barFrom = 2 * time.Second // what is done sooner needs no bar
	barStep = 100 * time.Millisecond
)

// Bar is a line of progress that is written over.
type Bar struct {
	env   Env
	mu    sync.Mutex
	next  time.Time
	drawn bool
}

const (
	barWidth  = 30
	clearLine = "\r\x1b[K"
)

// Bar is the progress bar of a terminal; nil if stderr is none.
func (e Env) Bar() *Bar {
	if f, ok := e.Err.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return newBar(e)
}

func newBar(e Env) *Bar { return &Bar{env: e, next: e.Now().Add(barFrom)} }

// Show draws the progress if reading takes long, at most once per barStep.
func (b *Bar) Show(what string, done, total uint64) {
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

// Clear removes the line.
func (b *Bar) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn {
		fmt.Fprint(b.env.Err, clearLine)
	}
}
