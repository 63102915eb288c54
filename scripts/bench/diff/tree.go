package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/tool"
)

// tree is one of the two states.
type tree struct {
	name     string // in the table
	dir      string
	bin      tool.Binaries
	packages []benchmarks
	results  bytes.Buffer // in the text format of Go benchmarks
}

// benchmarks are the compiled benchmarks of a package.
type benchmarks struct{ dir, program string }

// checkout writes the state ref of the repository in root to dir, without
// touching the repository.
func checkout(ctx context.Context, root, ref, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", ref, err)
	}
	tar := dir + ".tar"
	for _, args := range [][]string{
		{"git", "-C", root, "archive", "-o", tar, ref},
		{"tar", "-x", "-f", tar, "-C", dir},
	} {
		if _, err := measure.Run(ctx, measure.Command{Args: args}); err != nil {
			return fmt.Errorf("getting the state %s: %w", ref, err)
		}
	}
	return os.Remove(tar)
}

// build makes the programs and the compiled benchmarks of t in out.
func (t *tree) build(ctx context.Context, out string, wanted *regexp.Regexp) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return fmt.Errorf("making the folder of %s: %w", t.name, err)
	}
	if _, err := measure.Run(ctx, measure.Command{Args: []string{"make", "--no-print-directory", "all"}, Dir: t.dir}); err != nil {
		return fmt.Errorf("building %s: %w", t.name, err)
	}
	t.bin = tool.Binaries{Shadow: filepath.Join(out, "shadow"), Agent: filepath.Join(out, "libstackagent.so")}
	// Copies: a build in the tree may replace them meanwhile.
	for _, file := range []string{t.bin.Shadow, t.bin.Agent} {
		if err := copyFile(file, filepath.Join(t.dir, "bin", filepath.Base(file))); err != nil {
			return fmt.Errorf("building %s: %w", t.name, err)
		}
	}
	if wanted == nil {
		return nil
	}
	dirs, err := withBenchmarks(t.dir, wanted)
	if err != nil {
		return fmt.Errorf("looking for benchmarks in %s: %w", t.name, err)
	}
	for _, dir := range dirs {
		program := filepath.Join(out, strings.ReplaceAll(dir, "/", "-")+".test")
		if _, err := measure.Run(ctx, measure.Command{Args: []string{"go", "test", "-c", "-o", program, "./" + dir}, Dir: t.dir}); err != nil {
			return fmt.Errorf("building the benchmarks of %s: %w", t.name, err)
		}
		t.packages = append(t.packages, benchmarks{filepath.Join(t.dir, dir), program})
	}
	return nil
}

func copyFile(to, from string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

var declaration = regexp.MustCompile(`(?m)^func Benchmark(\w*)\(`)

// withBenchmarks lists the folders of packages that declare a wanted benchmark.
func withBenchmarks(root string, wanted *regexp.Regexp) (dirs []string, err error) {
	seen := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "build" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil || seen[dir] {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range declaration.FindAllSubmatch(b, -1) {
			if !seen[dir] && wanted.MatchString("Benchmark"+string(m[1])) {
				seen[dir] = true
				dirs = append(dirs, dir)
			}
		}
		return nil
	})
	return dirs, err
}
