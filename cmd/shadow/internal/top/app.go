// Package top shows the live figures of a shadow in a terminal.
package top

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/view"
)

// Refresh is how often the page is asked. It has new figures every second.
const Refresh = time.Second

// Options of Run.
type Options struct {
	Page   *Page
	JVM    string // process id, folder or name of a session; "": all JVMs, or the only one
	Once   bool   // print one snapshot
	Format string // table, json or csv; for a pipe
}

// app is the program while it runs.
type app struct {
	env console.Env
	Options
	state
	headed bool // the header of CSV has been printed
}

// Run shows the figures until the user quits or ctx ends.
func Run(ctx context.Context, env console.Env, o Options) error {
	a := &app{env: env, Options: o, state: state{page: o.Page.String(), sorts: map[string]int{}, selected: map[string]string{}}}
	if err := a.choose(ctx); err != nil {
		return err
	}
	if err := a.apply(a.ask(ctx)); err != nil && a.jvm == nil {
		return err
	}
	if o.Once {
		return a.output()
	}
	var s *screen
	if o.Format == "table" {
		var err error
		if s, err = openScreen(env.In, env.Out); err != nil {
			return err
		}
	}
	if s == nil {
		return a.follow(ctx)
	}
	defer s.close()
	return a.interact(ctx, s)
}

// choose finds the JVM that the user asked for.
func (a *app) choose(ctx context.Context) error {
	var f live.Fleet
	if err := a.Page.get(ctx, livePath, &f); err != nil {
		return err
	}
	if a.JVM == "" {
		if len(f.JVMs) == 1 {
			a.folder = f.JVMs[0].Folder
		}
		return nil
	}
	pid, err := strconv.Atoi(a.JVM)
	for _, r := range f.JVMs { // running ones first
		if err == nil && r.PID == pid || r.Folder == filepath.Base(a.JVM) || r.Session == a.JVM {
			a.folder = r.Folder
			return nil
		}
	}
	if err == nil {
		return fmt.Errorf("%s has no JVM with process id %d: shadow attach %d --bus URL, with the bus of that shadow, records it", a.page, pid, pid)
	}
	return fmt.Errorf("%s has no live session %s: shadow top lists those that it has", a.page, table.Clean(a.JVM))
}

// livePath is where the page has the figures of all JVMs.
const livePath = "/live.json"

// jvmPath is where it has those of one.
func jvmPath(folder string) string { return "/live/" + url.PathEscape(folder) + ".json" }

// answer is what came back to a question.
type answer struct {
	folder string // what the question was about
	fleet  *live.Fleet
	jvm    *live.JVM
	at     time.Time
	err    error
}

// ask asks for the figures of what is in view.
func (a *app) ask(ctx context.Context) answer {
	return ask(ctx, a.Page, a.folder, a.env.Now)
}

func ask(ctx context.Context, p *Page, folder string, now func() time.Time) answer {
	got := answer{folder: folder}
	if folder == "" {
		got.fleet = new(live.Fleet)
		got.err = p.get(ctx, livePath, got.fleet)
	} else {
		got.jvm = new(live.JVM)
		if got.err = p.get(ctx, jvmPath(folder), got.jvm); errors.Is(got.err, errNotFound) {
			got.err = errGone
		}
	}
	got.at = now()
	return got
}

// apply takes an answer. After an error the last figures stay.
func (a *app) apply(got answer) error {
	switch {
	case got.folder != a.folder: // the user has gone on to something else
		return nil
	case errors.Is(got.err, errGone):
		a.trouble = endedText + table.Clean(a.folder)
	case got.err != nil:
		a.trouble = "RECONNECTING: " + text.OneLine(got.err.Error())
	default:
		a.fleet, a.jvm, a.received, a.trouble = got.fleet, got.jvm, got.at, ""
		if got.jvm != nil && got.jvm.Row.Ended != "" {
			a.trouble = endedText + table.Clean(a.folder)
			return errGone
		}
	}
	return got.err
}

const endedText = "ENDED: the session is stored as "

// output prints what there is in the format.
func (a *app) output() error {
	switch a.Format {
	case "json":
		if a.folder != "" {
			return view.Encode(a.env.Out, a.jvm)
		}
		return view.Encode(a.env.Out, a.fleet)
	case "csv":
		l := a.grid()
		lines := l.csv()
		if a.headed {
			lines = lines[1:]
		}
		if a.headed = true; len(lines) == 0 {
			return nil
		}
		return view.WriteCSV(a.env.Out, lines[0], lines[1:])
	}
	if _, err := fmt.Fprint(a.env.Out, a.print(a.env.Now(), table.ForWriter(a.env.Out, a.env.Getenv).Width)); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// follow prints a snapshot each second until ctx ends; while the shadow is away it
// says so once and asks again.
func (a *app) follow(ctx context.Context) error {
	tick := time.NewTicker(Refresh)
	defer tick.Stop()
	away := false
	for {
		if a.trouble == "" {
			if err := a.output(); err != nil {
				return err
			}
			away = false
		} else if !away {
			away = true
			a.env.Note("%s", a.trouble)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := a.apply(a.ask(ctx)); errors.Is(err, errGone) {
			a.env.Note("%s", a.trouble)
			return nil
		}
	}
}

// interact shows the figures on the screen and obeys keys.
func (a *app) interact(ctx context.Context, s *screen) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pressed, answers := make(chan key), make(chan answer, 1)
	go readKeys(ctx, s.in, pressed)
	tick := time.NewTicker(Refresh)
	defer tick.Stop()
	color := table.ForWriter(s.out, a.env.Getenv).Color
	asking := false
	send := func() {
		if asking || a.paused {
			return
		}
		asking = true
		go func(folder string) { answers <- ask(ctx, a.Page, folder, a.env.Now) }(a.folder)
	}
	for {
		width, height := s.size()
		if err := s.draw(a.frame(a.env.Now(), width, height, color)); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-s.resized:
		case <-tick.C:
			send()
		case got := <-answers:
			asking = false
			_ = a.apply(got) // the first line says what is wrong
			if got.folder != a.folder {
				send()
			}
		case k := <-pressed:
			before := a.folder
			if !a.press(k, height) {
				return nil
			}
			if a.folder != before {
				send()
			}
		}
	}
}

// press obeys a key and reports whether the program goes on.
func (s *state) press(k key, height int) bool {
	l := s.grid()
	at := s.selection(&l)
	steps := map[key]int{keyUp: -1, keyDown: 1, keyPgUp: -height / 2, keyPgDn: height / 2, keyHome: -len(l.rows), keyEnd: len(l.rows)}
	switch {
	case k == keyQuit:
		return false
	case steps[k] != 0 && len(l.rows) > 0:
		s.selected[s.title()] = l.rows[min(max(at+steps[k], 0), len(l.rows)-1)].key
	case k == "p":
		s.paused = !s.paused
	case k == "s" && !s.details:
		s.sortNext(&l)
	case k == keyBack && s.details:
		s.details = false
	case k == keyBack && s.folder != "":
		s.open("")
	case k == keyEnter && len(l.rows) > 0 && s.folder == "":
		s.open(l.rows[at].key)
	case k == keyEnter && len(l.rows) > 0:
		s.details = !s.details
	case (k == keyLeft || k == keyRight) && s.folder != "" && !s.details:
		step := 1
		if k == keyLeft {
			step = len(panels) - 1
		}
		s.panel = (s.panel + step) % len(panels)
	}
	return true
}

// open shows a JVM, or with "" all of them. Nothing is known of it yet.
func (s *state) open(folder string) {
	s.folder, s.fleet, s.jvm = folder, nil, nil
	s.received, s.trouble, s.details, s.paused = time.Time{}, "", false, false
}

// sortNext sorts by the next column of numbers; after the last one rows are as sent.
func (s *state) sortNext(l *grid) {
	at := -1
	if i, chosen := s.sorts[s.title()]; chosen {
		at = i
	}
	next := slices.IndexFunc(l.columns[min(at+1, len(l.columns)):], func(h heading) bool { return h.number })
	if next < 0 {
		delete(s.sorts, s.title())
		return
	}
	s.sorts[s.title()] = at + 1 + next
}
