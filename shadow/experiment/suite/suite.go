// Package suite reads a suite, a YAML file that lists programs to measure, and makes commands of them.
package suite

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stackagent/internal/bounded"
	"stackagent/internal/text"
)

// Suite is a list of programs.
type Suite struct {
	Path     string // of the YAML file
	Programs []Program
}

// Program is one program of a suite.
type Program struct {
	Name string // letters, digits, '.', '_' and '-'; unique in the suite
	What string // what it does, one line
	Dir  string // the folder of the YAML file, in which Command and Prepare run

	Command []string // with words as {threads}; see Words
	Prepare []string // run before the first run; nil if there is nothing to prepare

	Size, Small string            // values of {size}, of a normal and of a quick run
	Iterations  int               // value of {iterations}; 0 if not given
	Marker      Marker            // how an iteration is recognised
	Requests    string            // class glob of the tasks that are requests; "" if it has none
	Tasks       []string          // values of --task
	Words       map[string]string // words of its own, with their values

	Check   *regexp.Regexp // a line of stdout must match, else the run failed; nil if only the exit code counts
	JDK     JDKs
	Licence string
}

// MarkerKind is how an iteration is recognised.
type MarkerKind string

// The kinds of markers.
const (
	NoMarker     MarkerKind = ""       // the run is one iteration
	OutputMarker MarkerKind = "output" // a line of stdout at its end matches Line
	TaskMarker   MarkerKind = "task"   // it is an execution of Task
)

// Marker says how an iteration is recognised.
type Marker struct {
	Kind MarkerKind
	Line *regexp.Regexp // of OutputMarker
	Task string         // of TaskMarker: CLASS#METHOD, as in --task
}

// JDKs are the versions of Java that a program runs on.
type JDKs struct {
	Min, Max int // inclusive; 0: no limit
}

// Refuses says why a program does not run on a version of Java, "" if it does.
func (j JDKs) Refuses(version int) string {
	switch {
	case j.Min > 0 && version < j.Min:
		return fmt.Sprintf("needs JDK %d or newer", j.Min)
	case j.Max > 0 && version > j.Max:
		return fmt.Sprintf("needs JDK %d or older", j.Max)
	}
	return ""
}

// maxBytes bounds the file. A suite of a thousand programs is far smaller.
const maxBytes = 1 << 20

// Read reads a suite.
func Read(path string) (*Suite, error) {
	data, err := bounded.ReadFile(path, maxBytes+1)
	if err != nil {
		return nil, fmt.Errorf("reading the suite: %w; name a YAML file with a list of programs", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("reading the suite: %w", err)
	}
	programs, err := parse(data, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &Suite{Path: path, Programs: programs}, nil
}

// Find is the program of this name in the first of the suites that has one.
func Find(name string, paths ...string) (Program, error) {
	all := Suite{Path: strings.Join(paths, " and ")}
	for _, path := range paths {
		s, err := Read(path)
		if err != nil {
			return Program{}, err
		}
		all.Programs = append(all.Programs, s.Programs...)
	}
	found, err := all.Select(name)
	if err != nil {
		return Program{}, err
	}
	return found[0], nil
}

// Select gives the programs of these names in this order; all of them if there are no names.
func (s *Suite) Select(names ...string) ([]Program, error) {
	if len(names) == 0 {
		return s.Programs, nil
	}
	known := make([]string, len(s.Programs))
	for i, p := range s.Programs {
		known[i] = p.Name
	}
	var chosen []Program
	var unknown []error
	for _, name := range names {
		i := slices.Index(known, name)
		if i < 0 {
			unknown = append(unknown, fmt.Errorf("%s has no program %q%s", s.Path, name, text.DidYouMean(name, known)))
			continue
		}
		chosen = append(chosen, s.Programs[i])
	}
	return chosen, errors.Join(unknown...)
}
