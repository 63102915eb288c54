package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// binaries are what is shipped, by the package that makes each.
var binaries = []struct{ pkg, name string }{
	{"./cmd/shadow", "shadow"},
	{"./cmd/stackagent", "libstackagent.so"},
}

// module is a module with packages in some binary.
type module struct {
	path, version string
	root          string            // its folder
	dirs          map[string]bool   // folders of its linked packages
	in            []string          // binaries
	texts         map[string]string // by path inside the module
	licences      []string          // SPDX identifiers
}

// listed is the part of `go list -json` that matters here.
type listed struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linked lists the modules of all binaries, the Go distribution first.
func linked(root string) ([]*module, error) {
	std := &module{path: "Go standard library"}
	all := map[string]*module{}
	for _, b := range binaries {
		packages, err := list(root, b.pkg)
		if err != nil {
			return nil, err
		}
		std.in = append(std.in, b.name)
		for _, p := range packages {
			if p.Standard || p.Module == nil || p.Module.Main {
				continue
			}
			m := all[p.Module.Path]
			if m == nil {
				m = &module{path: p.Module.Path, version: p.Module.Version, root: p.Module.Dir, dirs: map[string]bool{}}
				all[m.path] = m
			}
			m.dirs[p.Dir] = true
			if !slices.Contains(m.in, b.name) {
				m.in = append(m.in, b.name)
			}
		}
	}
	// Some distributions ship Go without its licence; golang.org/x/sys has the same.
	std.root = all["golang.org/x/sys"].root
	std.dirs = map[string]bool{std.root: true}
	modules := []*module{std}
	for _, m := range all {
		modules = append(modules, m)
	}
	slices.SortFunc(modules[1:], func(a, b *module) int { return strings.Compare(a.path, b.path) })
	return modules, nil
}

func list(root, pkg string) ([]listed, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Dir,Standard,Module", pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "GOOS=linux", "GOARCH=amd64") // the same notices on every machine
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s: %w", pkg, err)
	}
	var all []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("go list %s: %w", pkg, err)
		}
		all = append(all, p)
	}
}
