package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/internal/proc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session/logs/marker"
)

// markerFlags say which lines of the command's output mark its iterations.
type markerFlags struct{ begin, end, file string }

// AddTo adds the flags.
func (m *markerFlags) AddTo(flags *pflag.FlagSet) {
	flags.StringVar(&m.end, "marker", "", "a line of the command's output that matches this `REGEX` ends an iteration. Then its output goes through pipes: it sees no terminal, and what outlives it can print for two more seconds")
	flags.StringVar(&m.begin, "marker-begin", "", "a line that matches this `REGEX` begins an iteration (default: each begins where the one before ended, the first with the session)")
	flags.StringVar(&m.file, "marker-file", "", "`FILE` in which the program itself leaves its markers, as the JUnit listener does (the form of markers.json); a file from before the run is ignored")
}

func (m *markerFlags) check() error {
	if m.begin != "" && m.end == "" {
		return console.Usagef("--marker-begin: give the lines that end an iteration with --marker, too")
	}
	if m.file != "" && m.end != "" {
		return console.Usagef("--marker-file: the markers are in the file; leave out --marker")
	}
	if info, err := os.Stat(m.file); m.file != "" && err == nil && !info.Mode().IsRegular() { // the program would run for nothing
		return console.Usagef("--marker-file: %s is no regular file; name one that the program writes", text.OneLine(m.file))
	}
	for flag, pattern := range map[string]string{"--marker": m.end, "--marker-begin": m.begin} {
		if _, err := regexp.Compile(pattern); err != nil {
			return console.Usagef("%s: %w", flag, err)
		}
	}
	return nil
}

// recorder looks for the markers in one run of the command; nil: none are wanted.
func (m *markerFlags) recorder() *marker.Recorder {
	if m.end == "" {
		return nil
	}
	var begin *regexp.Regexp
	if m.begin != "" {
		begin = regexp.MustCompile(m.begin) // checked
	}
	return marker.New(begin, regexp.MustCompile(m.end))
}

// ownFile is the file in which the program leaves its markers, as it was before the run.
type ownFile struct {
	path   string
	before os.FileInfo // nil: it was not there
	began  units.MonoNs
}

// own looks at the program's own file before a run; nil: there is none.
func (m *markerFlags) own() *ownFile {
	if m.file == "" {
		return nil
	}
	o := &ownFile{path: m.file, began: proc.Now()}
	o.before, _ = os.Stat(m.file) // reading it says why
	return o
}

// read reads what the program left in its file during the run; an error says why there are no markers of it.
func (o *ownFile) read() (*marker.File, error) {
	name := text.OneLine(o.path)
	after, err := os.Stat(o.path)
	if err == nil && o.before != nil && os.SameFile(o.before, after) && o.before.ModTime().Equal(after.ModTime()) && o.before.Size() == after.Size() {
		return nil, fmt.Errorf("no iterations: %s is older than this run, and the program did not write it; have the program write the file that --marker-file names", name)
	}
	file, err := marker.ReadFile(o.path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("no iterations: %w", err)
	case file == nil:
		return nil, fmt.Errorf("no iterations: the program did not write %s; have it write the file that --marker-file names (the JUnit listener writes $STACKAGENT_SESSION.markers.json)", name)
	case len(file.Markers) == 0:
		return nil, fmt.Errorf("no iterations: %s has no markers; did any test run?", name)
	case file.Markers[0].At < o.began || file.Markers[len(file.Markers)-1].At > proc.Now():
		return nil, fmt.Errorf("no iterations: %s has markers of another time than this run; at_ns must be System.nanoTime() of when an iteration began or ended", name)
	}
	return file, nil
}

// watched are the streams that the command gets: the shadow's own, unless its lines are looked at. Call done when
// it has ended.
func watched(env console.Env, r *marker.Recorder) (out, errs io.Writer, done func()) {
	if r == nil {
		return env.Out, env.Err, func() {}
	}
	// Who reads the output may end first, as head does. The command then finds its pipe closed, as it would without the
	// shadow; the signal must not end the shadow before the session is whole.
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, unix.SIGPIPE)
	return r.Through("stdout", env.Out), r.Through("stderr", env.Err), func() { signal.Stop(closed) }
}

// storeMarkers puts the markers of a run into the folders of its sessions.
func storeMarkers(env console.Env, file *marker.File, folders []string) (err error) {
	if len(file.Markers) == 0 {
		env.Note("no line of the output matches --marker %q", table.Clean(file.End))
	}
	if file.Dropped > 0 {
		env.Note("%s dropped: at most %d are kept", text.PluralExact(file.Dropped, "marker", "markers"), marker.MaxMarkers)
	}
	for _, folder := range folders {
		err = errors.Join(err, file.Write(folder))
	}
	return err
}
