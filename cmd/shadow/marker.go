package main

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"regexp"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/shadow/marker"
	"stackagent/shadow/view/table"
)

// markerFlags say which lines of the command's output mark its iterations.
type markerFlags struct{ begin, end, file string }

func (m *markerFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&m.end, "marker", "", "a line of the command's output that matches this `REGEX` ends an iteration. Then its output goes through pipes: it sees no terminal, and what outlives it can print for two more seconds")
	flags.StringVar(&m.begin, "marker-begin", "", "a line that matches this `REGEX` begins an iteration (default: each begins where the one before ended, the first with the session)")
	flags.StringVar(&m.file, "marker-file", "", "`FILE` in which the program itself leaves its markers, as the JUnit listener does (the form of markers.json)")
}

func (m *markerFlags) check() error {
	if m.begin != "" && m.end == "" {
		return console.Usagef("--marker-begin: give the lines that end an iteration with --marker, too")
	}
	if m.file != "" && m.end != "" {
		return console.Usagef("--marker-file: the markers are in the file; leave out --marker")
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

// left are the markers in the program's own file; nil: it left none.
func (m *markerFlags) left(env console.Env) *marker.File {
	if m.file == "" {
		return nil
	}
	file, err := marker.ReadFile(m.file)
	if err != nil {
		env.Note("%s", text.OneLine(err.Error()))
	}
	return file
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
