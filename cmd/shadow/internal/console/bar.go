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
	late  *time.Timer // draws what came too soon to be drawn; nil: there is none
	line  string
}

const (
	barWidth  = 30
	clearLine = "\r\x1b[K"
)

// Watched reports whether stderr is a terminal: elsewhere, progress is not shown.
func (e Env) Watched() bool {
	f, ok := e.Err.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Bar is the progress bar of a terminal; nil if stderr is none.
func (e Env) Bar() *Bar {
	if !e.Watched() {
		return nil
	}
	return newBar(e)
}

func newBar(e Env) *Bar { return &Bar{env: e, next: e.Now().Add(barFrom)} }

// Show draws the progress if reading takes long, at most once per barStep. Without a total it names what is done.
func (b *Bar) Show(what string, done, total uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.line = what + " ..."
	if total > 0 {
		full := int(barWidth * min(done, total) / total)
		b.line = fmt.Sprintf("%s [%-*s] %d %%", what, barWidth, stripe(full), 100*min(done, total)/total)
	}
	if early := b.next.Sub(b.env.Now()); early <= 0 {
		b.draw()
	} else if total == 0 && b.late == nil { // a step of which nobody hears again before its end
		b.late = time.AfterFunc(early, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			if b.late != nil {
				b.draw()
			}
		})
	}
}

func (b *Bar) draw() {
	b.stop()
	b.next, b.drawn = b.env.Now().Add(barStep), true
	fmt.Fprintf(b.env.Err, "%sshadow: %s", clearLine, b.line)
}

func (b *Bar) stop() {
	if b.late != nil {
		b.late.Stop()
		b.late = nil
	}
}

func stripe(n int) string { return "=============================="[:n] }

// Clear removes the line.
func (b *Bar) Clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stop()
	if b.drawn {
		fmt.Fprint(b.env.Err, clearLine)
	}
}
