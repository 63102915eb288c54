package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/store"
)

// What is done to the files of a session; see mutate.
const (
	tortureShort = 50
	tortureFull  = 10_000
	tortureReads = 3 // verbs after each mutation, chosen at random
	tortureLeft  = 4 // mutations of which one is read with --damaged
	// tortureVerbTime is far more than any verb takes over so small a session.
	tortureVerbTime = 2 * time.Minute
)

// tortureVerbs are the verbs that read sessions; what they print is compared.
// DIR is the session, OUT a folder that is deleted afterwards.
var tortureVerbs = [][]string{
	{"stats", "DIR", "--format", "json"},
	{"stats", "DIR"},
	{"stats", "DIR", "--units", "--format", "json"},
	{"hotspots", "DIR", "--format", "json"},
	{"hotspots", "DIR", "--by", "site", "--format", "json"},
	{"hotspots", "DIR", "--by", "executor", "--format", "csv"},
	{"hotspots", "DIR", "--by", "context", "--format", "csv"},
	{"tasks", "DIR", "--format", "csv"},
	{"tasks", "DIR", "--units", "--format", "csv"},
	{"tasks", "DIR", "--format", "parquet", "-o", "OUT/tasks.parquet"},
	{"tasks", "DIR", "--format", "tgp", "-o", "OUT/tgp"},
	{"threads", "DIR", "--format", "json"},
	{"threads", "DIR", "--counters"},
	{"threads", "DIR", "--virtual", "--format", "json"},
	{"bottle", "DIR", "--format", "json"},
	{"gc", "DIR", "--format", "json"},
	{"stack", "DIR", "DIR", "--threads", "2", "--workers", "*", "--format", "json"},
	{"tgp", "fine", "DIR", "--format", "json"},
	{"tgp", "diagnose", "DIR", "--format", "json"},
	{"report", "DIR", "-o", "OUT/report.html"},
}

// tortured is a copy of a session that is damaged and mended again and again.
type tortured struct {
	*testing.T
	rng         *rand.Rand
	dir, out    string
	good, other map[string][]byte // by path in the folder
	names       []string          // of good
	want        []string          // what each verb prints of the good one
	touched     map[string]bool
	what        string // of the mutation
	clean       int    // runs that exited with 0
	named       int    // runs that named the damage and exited with 1
}

// Nothing that happens to the files of a session makes a verb panic, hang, or
// print other figures with exit code 0.
func TestTortureSessionFiles(t *testing.T) {
	rounds := tortureShort
	if os.Getenv("STACKAGENT_TORTURE") == "full" {
		rounds = tortureFull
	}
	workers := runtime.GOMAXPROCS(0)
	var next, clean, named, runs atomic.Int64
	t.Run("files", func(t *testing.T) {
		for range workers {
			t.Run("", func(t *testing.T) {
				t.Parallel()
				x := newTortured(t)
				for i := next.Add(1); i <= int64(rounds) && !t.Failed(); i = next.Add(1) {
					x.rng = rand.New(rand.NewPCG(uint64(i), 19)) // a mutation is the same whoever makes it
					runs.Add(int64(x.round()))
					if i%tortureLeft == 0 {
						x.left()
					}
					x.mend()
					if i%250 == 0 {
						t.Logf("%d mutations so far", i)
					}
				}
				clean.Add(int64(x.clean))
				named.Add(int64(x.named))
			})
		}
	})
	t.Logf("%d mutations, %d runs of verbs: %d name the damage and exit with 1, %d print the same figures and exit with 0, %d do neither",
		min(next.Load(), int64(rounds)), runs.Load(), named.Load(), clean.Load(), runs.Load()-named.Load()-clean.Load())
}

func newTortured(t *testing.T) *tortured {
	root := t.TempDir()
	x := &tortured{T: t, dir: tortureSession(t, root, 0), out: filepath.Join(root, "out"), touched: map[string]bool{}}
	x.good, x.other = filesOf(t, x.dir), filesOf(t, tortureSession(t, t.TempDir(), 3))
	x.names = slices.Sorted(maps.Keys(x.good))
	for _, verb := range tortureVerbs {
		code, out, errs := x.run(verb)
		if code != 0 {
			t.Fatalf("%v of the good session: exit code %d: %s", verb, code, errs)
		}
		x.want = append(x.want, out)
	}
	return x
}

func filesOf(t *testing.T, dir string) map[string][]byte {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// round makes one mutation and lets verbs read.
func (x *tortured) round() (runs int) {
	x.what = x.mutate()
	what := x.what
	for _, i := range x.rng.Perm(len(tortureVerbs))[:tortureReads] {
		code, out, errs := x.run(tortureVerbs[i])
		switch {
		case code == 0 && out != x.want[i]:
			x.Errorf("%s: %v prints other figures with exit code 0:\n%s\nnot\n%s\n%s", what, tortureVerbs[i], out, x.want[i], errs)
		case code == 0:
			x.clean++
		case code != 1 || len(errs) == 0 || !explained(errs):
			x.Errorf("%s: %v: exit code %d: %s", what, tortureVerbs[i], code, errs)
		default:
			x.named++
		}
	}
	return tortureReads
}

// left reads what is left: an exit code that is promised, and totals that are
// marked where the session is damaged.
func (x *tortured) left() {
	what := x.what
	damaged, _, _ := x.run(tortureVerbs[0])
	code, out, errs := x.run(append(slices.Clone(tortureVerbs[0]), "--damaged"))
	switch {
	case code != 0 && code != 1:
		x.Errorf("%s: --damaged: exit code %d: %s", what, code, errs)
	case code == 0 && damaged == 1 && !strings.Contains(out, `"totals": "`):
		x.Errorf("%s: --damaged does not mark the totals: %s", what, errs)
	}
	verb := tortureVerbs[x.rng.IntN(len(tortureVerbs))]
	if code, _, errs := x.run(append(slices.Clone(verb), "--damaged")); code != 0 && code != 1 {
		x.Errorf("%s: %v --damaged: exit code %d: %s", what, verb, code, errs)
	}
}

// explained checks that each line is about a session.
func explained(errs string) bool {
	for line := range strings.Lines(errs) {
		if !strings.HasPrefix(line, "shadow: ") {
			return false
		}
	}
	return true
}

// run runs a verb; its output includes the file that it writes.
func (x *tortured) run(verb []string) (code int, out, errs string) {
	args := slices.Clone(verb)
	for i := range args {
		args[i] = strings.ReplaceAll(strings.ReplaceAll(args[i], "DIR", x.dir), "OUT", x.out)
	}
	if err := os.MkdirAll(x.out, 0o700); err != nil {
		x.Fatal(err)
	}
	defer os.RemoveAll(x.out)
	done := make(chan struct{})
	var o, e bytes.Buffer
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				code = 99
				fmt.Fprintf(&e, "panic: %v", r)
			}
		}()
		env := console.Env{In: strings.NewReader(""), Out: &o, Err: &e, Environ: os.Environ(),
			Executable: func() (string, error) { return "/nowhere/shadow", nil },
			Now:        func() time.Time { return time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC) }}
		code = Run(context.Background(), args, env)
	}()
	select {
	case <-done:
	case <-time.After(tortureVerbTime):
		x.Fatalf("%v hangs", verb)
	}
	if code == 0 {
		x.written(verb, &o)
	}
	return code, o.String(), e.String()
}

// written appends what a verb has written into files.
func (x *tortured) written(verb []string, to io.Writer) {
	files := filesOf(x.T, x.out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(to, "%s: %s\n", name, files[name])
	}
}

// mend puts the good files back.
func (x *tortured) mend() {
	for name := range x.touched {
		path := filepath.Join(x.dir, name)
		if err := os.RemoveAll(path); err != nil {
			x.Fatal(err)
		}
	}
	for _, name := range x.names {
		if x.touched[name] || x.touched[filepath.Dir(name)] {
			x.put(name, x.good[name])
		}
	}
	x.touched = map[string]bool{}
}

func (x *tortured) put(name string, data []byte) {
	x.touched[name] = true
	path := filepath.Join(x.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		x.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		x.Fatal(err)
	}
}

func (x *tortured) remove(name string) {
	x.touched[name] = true
	if err := os.RemoveAll(filepath.Join(x.dir, name)); err != nil {
		x.Fatal(err)
	}
}

func (x *tortured) pick() string { return x.names[x.rng.IntN(len(x.names))] }

func (x *tortured) pickLike(suffix string) string {
	for {
		if name := x.pick(); strings.HasSuffix(name, suffix) {
			return name
		}
	}
}

// mutate damages the copy in one of many ways, and says how.
func (x *tortured) mutate() string {
	ways := []func() string{x.flip, x.flip, x.flip, x.cut, x.grow, x.blank, x.drop, x.swap, x.exchange, x.copyOver, x.rename, x.duplicate,
		x.editNumber, x.editNumber, x.dropLine, x.downgrade, x.special, x.foreignRecord}
	return ways[x.rng.IntN(len(ways))]()
}

func (x *tortured) flip() string {
	name := x.pick()
	data := bytes.Clone(x.good[name])
	n := 1 + x.rng.IntN(3)
	for range n {
		data[x.rng.IntN(len(data))] ^= 1 << x.rng.IntN(8)
	}
	x.put(name, data)
	return fmt.Sprintf("%d bits of %s flipped", n, name)
}

func (x *tortured) cut() string {
	name := x.pick()
	n := x.rng.IntN(len(x.good[name]))
	x.put(name, x.good[name][:n])
	return fmt.Sprintf("%s cut to %d bytes", name, n)
}

func (x *tortured) grow() string {
	name := x.pick()
	x.put(name, append(bytes.Clone(x.good[name]), x.good[x.pick()]...))
	return name + " grown"
}

func (x *tortured) blank() string {
	name := x.pick()
	data := bytes.Clone(x.good[name])
	from := x.rng.IntN(len(data))
	to := min(len(data), from+1+x.rng.IntN(512))
	clear(data[from:to])
	x.put(name, data)
	return fmt.Sprintf("%s blank from %d to %d", name, from, to)
}

func (x *tortured) drop() string {
	name := x.pick()
	x.remove(name)
	return name + " deleted"
}

func (x *tortured) swap() string {
	a, b := x.pick(), x.pick()
	x.put(a, x.good[b])
	x.put(b, x.good[a])
	return a + " and " + b + " swapped"
}

// exchange takes a file of another session, which has the same name.
func (x *tortured) exchange() string {
	name := x.pick()
	x.put(name, x.other[name])
	return name + " of another session"
}

func (x *tortured) copyOver() string {
	a, b := x.pickLike(".parquet"), x.pickLike(".parquet")
	from := x.good
	if x.rng.IntN(2) == 0 {
		from = x.other
	}
	x.put(b, from[a])
	return a + " copied over " + b
}

// rename gives a part the range of another.
func (x *tortured) rename() string {
	name := x.pickLike(".parquet")
	to := x.newName(name)
	x.remove(name)
	x.put(to, x.good[name])
	return name + " renamed " + to
}

func (x *tortured) duplicate() string {
	name := x.pickLike(".parquet")
	to := x.newName(name)
	from := x.good
	if x.rng.IntN(3) == 0 {
		from = x.other
	}
	x.put(to, from[name])
	return name + " once more, as " + to
}

func (x *tortured) newName(name string) string {
	if table, _, ok := store.ParsePartName(name); ok {
		from := uint64(1 + x.rng.IntN(6))
		return store.PartName(table, from, from+uint64(x.rng.IntN(6)))
	}
	return regexp.MustCompile(`[0-9]+`).ReplaceAllString(name, fmt.Sprintf("%08d", x.rng.IntN(4)))
}

var numberRE = regexp.MustCompile(`[0-9]+`)

func (x *tortured) editNumber() string {
	name := x.pickLike(".json")
	data := x.good[name]
	all := numberRE.FindAllIndex(data, -1)
	at := all[x.rng.IntN(len(all))]
	n, _ := strconv.ParseInt(string(data[at[0]:at[1]]), 10, 64)
	edited := slices.Concat(data[:at[0]], strconv.AppendInt(nil, n+1+int64(x.rng.IntN(100)), 10), data[at[1]:])
	x.put(name, edited)
	return fmt.Sprintf("the number at %d of %s edited", at[0], name)
}

func (x *tortured) dropLine() string {
	name := x.pickLike(".json")
	lines := slices.Collect(bytes.Lines(x.good[name]))
	i := x.rng.IntN(len(lines))
	x.put(name, slices.Concat(slices.Delete(lines, i, i+1)...))
	return fmt.Sprintf("line %d of %s deleted", i+1, name)
}

var versionRE = regexp.MustCompile(`"version": [0-9]+`)

// downgrade makes the manifest one of a version without checksums, in several
// degrees of care, and changes a file.
func (x *tortured) downgrade() string {
	data := versionRE.ReplaceAll(x.good[store.ManifestName], []byte(`"version": 2`))
	if x.rng.IntN(2) == 0 {
		data = regexp.MustCompile(`,\s*"digest": "[0-9a-f]*"`).ReplaceAll(data, nil)
	}
	if x.rng.IntN(2) == 0 {
		data = regexp.MustCompile(`(?s)"files": \{.*?\n  \}`).ReplaceAll(data, []byte(`"files": null`))
	}
	x.put(store.ManifestName, data)
	name := x.pickLike(".parquet")
	x.put(name, x.other[name])
	return name + " of another session under a manifest of version 2"
}

// special puts what is no file in the place of one.
func (x *tortured) special() string {
	name := x.pick()
	x.remove(name)
	path := filepath.Join(x.dir, name)
	var err error
	what := []string{"a pipe", "a link", "a folder"}[x.rng.IntN(3)]
	switch what {
	case "a pipe":
		err = syscall.Mkfifo(path, 0o600)
	case "a link":
		err = os.Symlink("/dev/zero", path)
	default:
		err = os.Mkdir(path, 0o700)
	}
	if err != nil {
		x.Fatal(err)
	}
	return name + " is " + what
}

// foreignRecord takes the whole scheduling record of another session.
func (x *tortured) foreignRecord() string {
	x.remove("sched")
	for name, data := range x.other {
		if filepath.Dir(name) == "sched" {
			x.put(name, data)
		}
	}
	return "the scheduling record of another session"
}
