package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"stackagent/internal/jdk"
	"stackagent/internal/text"
	"stackagent/shadow/experiment/suite"
)

// Input chooses the programs of a suite, in place of a command, and what they work on.
type Input struct {
	Suite      string   // file; "": a command is run
	Names      []string // of programs; none: all
	Small      bool
	Iterations int // 0: each program's own number
}

// settings are what of it makes runs comparable.
func (in *Input) settings() (out []string) {
	if in.Small {
		out = append(out, "small input")
	}
	if in.Iterations > 0 {
		out = append(out, "iterations="+strconv.Itoa(in.Iterations))
	}
	return out
}

// Read reads the programs and prepares them, or makes one of the command. Those that do not run on a JDK are left out.
func (in *Input) Read(ctx context.Context, o Outside, args, jdks []string) ([]Program, error) {
	if in.Suite == "" {
		return []Program{Command(args)}, nil
	}
	s, err := suite.Read(in.Suite)
	if err != nil {
		return nil, err
	}
	chosen, err := s.Select(in.Names...)
	if err != nil {
		return nil, err
	}
	var out []Program
	for _, p := range chosen {
		if why := refusedBy(p, jdks); why != "" {
			o.Note("%s is left out: %s", p.Name, text.OneLine(why))
			continue
		}
		o.Note("preparing %s", p.Name)
		folder, err := p.Ready(ctx)
		if err != nil {
			return nil, err
		}
		out = append(out, Program{Program: p, folder: folder})
	}
	if len(out) == 0 {
		return nil, errors.New("no program is left to run")
	}
	return out, nil
}

// refusedBy says why a program does not run on one of the JDKs, or on that of PATH if there are none; "" if it does.
func refusedBy(p suite.Program, jdks []string) string {
	var homes []jdk.Home
	for _, path := range jdks {
		homes = append(homes, jdk.Of(filepath.Join(path, "bin", "java")))
	}
	if java, err := exec.LookPath("java"); len(jdks) == 0 && err == nil {
		homes = append(homes, jdk.Of(java))
	}
	i := slices.IndexFunc(homes, func(h jdk.Home) bool { return h.Feature() > 0 && p.JDK.Refuses(h.Feature()) != "" })
	if i < 0 {
		return ""
	}
	return fmt.Sprintf("it %s; %s is JDK %d", p.JDK.Refuses(homes[i].Feature()), homes[i].Path, homes[i].Feature())
}
