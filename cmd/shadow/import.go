package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/tgp"
	"stackagent/internal/jfrfile"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/exchange/jfrimport"
)

type importFlags struct {
	output  string
	methods bool
}

func newImport(env console.Env) *cobra.Command {
	var f importFlags
	cmd := &cobra.Command{
		Use:   "import FILE.jfr [-o DIR]",
		Short: "Convert a JFR recording, or a trace of tgp, into a session",
		Long: `Converts the recording of another profiler into a session, so that stats, report,
hotspots and the other commands work on it. FILE is a recording of the JVM's flight
recorder (JFR) or of async-profiler, packed with gzip or not. Of JDK 25 and later,
traced methods that execute tasks (run, call, exec, compute) become executions; of
JDK 21 and later, virtual threads. Waits and garbage collections are in recordings of
all versions. What a recording does not have is not available in the session;
docs/import.md lists it, with the options to record it.

For a trace of tgp, the task granularity profiler: shadow import tgp.`,
		Example: `  shadow import recording.jfr
  shadow import recording.jfr -o /tmp/s
  shadow import --methods recording.jfr -o /tmp/s
  shadow import tgp traces/tasks.csv traces/gc.csv -o /tmp/t`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Usagef("want one JFR recording: shadow import FILE.jfr -o DIR")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.run(env, args[0]) },
	}
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "folder of the session, new or empty (default: the file's name without .jfr, in the current folder)")
	cmd.Flags().BoolVar(&f.methods, "methods", false, "take each traced method as a task, not only run, call, exec and compute")
	cmd.AddCommand(tgp.NewImport(env))
	return cmd
}

// maxUnpacked bounds what a packed recording may become.
const maxUnpacked = 256 << 30

func (f *importFlags) run(env console.Env, path string) error {
	out := f.output
	if out == "" {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jfr")
		if out = name; name == filepath.Base(path) {
			out += "-session" // beside the file itself
		}
	}
	in, err := openRecording(path, filepath.Dir(filepath.Clean(out)))
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("reading a recording: %w", err)
	}
	o := jfrimport.Options{Methods: f.methods, Temp: filepath.Dir(filepath.Clean(out))}
	if bar := env.Bar(); bar != nil {
		defer bar.Clear()
		o.Progress = func(done, total int64) { bar.Show("reading the recording", uint64(done), uint64(total)) }
	}
	r, err := jfrimport.Build(out, in, info.Size(), o)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, n := range r.Notes {
		env.Note("%s", n)
	}
	if len(r.LeftOut) > 0 {
		env.Note("left out, as a session has no place for them: %s", r.LeftOutText(8))
	}
	env.Note("%s, %s and %s in %s", text.PluralExact(r.Executions, "execution", "executions"), text.PluralExact(r.Waits, "wait", "waits"), text.PluralExact(r.Pauses, "pause", "pauses"), out)
	return nil
}

// openRecording opens a recording; a packed one is unpacked into a file of the folder temp that nobody else sees.
func openRecording(path, temp string) (*os.File, error) {
	f, err := files.OpenPlain(path)
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	head := make([]byte, len(jfrfile.Magic))
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, fmt.Errorf("reading a recording: %w", err)
	}
	switch {
	case bytes.Equal(head, jfrfile.Magic):
		return f, nil
	case !bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		f.Close()
		return nil, fmt.Errorf("%s is no JFR recording: it does not begin with FLR; for a trace of tgp use shadow import tgp", path)
	}
	defer f.Close()
	return unpack(f, temp)
}

func unpack(f io.Reader, temp string) (*os.File, error) {
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpacking a recording: %w", err)
	}
	out, err := os.CreateTemp(temp, ".tmp-import-*")
	if err != nil {
		return nil, fmt.Errorf("unpacking a recording: %w", err)
	}
	os.Remove(out.Name()) // it goes with this process, however that ends
	n, err := io.Copy(out, io.LimitReader(z, maxUnpacked+1))
	if err == nil && n > maxUnpacked {
		err = fmt.Errorf("it is larger than %s", units.FormatBytes(maxUnpacked))
	}
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("unpacking a recording: %w", err)
	}
	return out, nil
}
