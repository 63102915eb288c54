package testjvm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// FreshVariable makes each test record the sessions that it reads, as in the full runs: for rounds beside load.
const FreshVariable = "STACKAGENT_FRESH_SESSIONS"

// keptBytes is how large the folder of kept sessions may get; the ones that nobody opened for the longest time go first.
const keptBytes = 1 << 30

// keptFile is what a kept session has beside its folder: the run that recorded it.
const keptFile = "run.json"

// Session is Profile for a test that only reads what was recorded. The session is recorded at first use and kept in the
// user's cache folder for all packages and clones; the test gets a copy of it. It is another one as soon as anything differs
// that has part in a recording: the command, the agent, the classes, the JDK, the options, the kernel. What a test found
// wrong is not kept: the next one records again. Tests of the recording itself call Profile.
func (c Command) Session(t testing.TB) Profile {
	t.Helper()
	key := c.key(t)
	if full() || os.Getenv(FreshVariable) != "" {
		return c.Profile(t)
	}
	base := keptSessions(t)
	kept := filepath.Join(base, key)
	unlock := lock(t, lockOf(kept))
	defer unlock()
	opened.add(t, kept)
	p, err := openKept(kept)
	if errors.Is(err, fs.ErrNotExist) {
		p = c.Profile(t)
		if !t.Failed() && sameBuild() {
			keep(t, p, base, kept)
		}
		return p
	}
	if err != nil {
		t.Fatal(err)
	}
	p.Dir = filepath.Join(t.TempDir(), "session")
	if err := os.CopyFS(p.Dir, os.DirFS(filepath.Join(kept, "session"))); err != nil {
		t.Fatalf("copying a kept session: %v", err)
	}
	return p
}

// keptSessions is the folder of kept sessions.
func keptSessions(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	base := filepath.Join(cache, "stackagent", "sessions")
	if err := os.MkdirAll(base, 0o755); err != nil {
		t.Fatal(err)
	}
	return base
}

// lockOf is the file that locks a session, and now and then a few others: so there are 256 of them and not one for each.
func lockOf(kept string) string {
	return filepath.Join(filepath.Dir(kept), filepath.Base(kept)[:2]+".lock")
}

// lock waits until this process alone has the file.
func lock(t testing.TB, path string) (unlock func()) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err == nil {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	}
	if err != nil {
		t.Fatalf("locking a kept session: %v", err)
	}
	return func() { _ = f.Close() } // which unlocks it
}

func openKept(kept string) (p Profile, err error) {
	b, err := os.ReadFile(filepath.Join(kept, keptFile))
	if err != nil {
		return p, fmt.Errorf("opening a kept session: %w", err)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("%s: %w", filepath.Join(kept, keptFile), err)
	}
	now := time.Now()
	_ = os.Chtimes(kept, now, now) // by which the oldest are found; another user's folder keeps its time
	return p, nil
}

// keep copies a run to where the next test finds it, whole or not at all. A disk without space keeps nothing.
func keep(t testing.TB, p Profile, base, kept string) {
	t.Helper()
	tmp, err := os.MkdirTemp(base, ".keeping-")
	if err != nil {
		t.Logf("the session is not kept: %v", err)
		return
	}
	defer os.RemoveAll(tmp)
	b, err := json.Marshal(p)
	if err == nil {
		err = os.CopyFS(filepath.Join(tmp, "session"), os.DirFS(p.Dir))
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(tmp, keptFile), b, 0o644)
	}
	if err == nil {
		err = os.Rename(tmp, kept)
	}
	if err != nil {
		t.Logf("the session is not kept: %v", err)
		return
	}
	prune(base, keptBytes)
}

// prune removes the sessions that nobody opened for the longest time until the others have room.
func prune(base string, most int64) {
	entries, err := os.ReadDir(base)
	if err != nil {
		return
	}
	type one struct {
		path  string
		bytes int64
		used  time.Time
	}
	var all []one
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		o := one{path: filepath.Join(base, e.Name()), used: info.ModTime()}
		_ = filepath.WalkDir(o.path, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				if info, err := d.Info(); err == nil {
					o.bytes += info.Size()
				}
			}
			return nil
		})
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b one) int { return b.used.Compare(a.used) })
	for _, o := range all {
		if most -= o.bytes; most < 0 {
			removeKept(o.path)
		}
	}
}

// removeKept takes a session away, unless a test has it open.
func removeKept(path string) {
	f, err := os.OpenFile(lockOf(path), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_ = os.RemoveAll(path) // what stays is removed the next time
	}
}

// openedSessions are the kept sessions that each test uses.
type openedSessions struct {
	mu sync.Mutex
	of map[testing.TB][]string
}

var opened openedSessions

// add has a session forgotten if its test fails, or finds an attempt spoilt.
func (o *openedSessions) add(t testing.TB, kept string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[testing.TB][]string{}
	}
	if o.of[t] == nil {
		t.Cleanup(func() {
			if t.Failed() {
				o.forget(t)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			delete(o.of, t)
		})
	}
	o.of[t] = append(o.of[t], kept)
}

// forget removes the sessions of a test.
func (o *openedSessions) forget(t testing.TB) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, kept := range o.of[t] {
		removeKept(kept)
	}
	if o.of[t] != nil {
		o.of[t] = o.of[t][:0]
	}
}

// key names what decides how a session comes out, short of chance.
func (c Command) key(t testing.TB) string {
	t.Helper()
	h := sha256.New()
	add := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p)
			if strings.Contains(p, filepath.Join(os.TempDir(), "Test")) {
				t.Fatalf("%q is of this run of the test: its session cannot be kept, call Profile", p)
			}
		}
		fmt.Fprint(h, ";")
	}
	builds, err := builtSums(Shadow(t), Library(t))
	if err != nil {
		t.Fatal(err)
	}
	add(builds...)
	add(machine(t)...)
	add(c.JDK.Home, c.JDK.Full)
	add(c.Wrap...)
	add(c.VM...)
	add(c.Main)
	add(c.Args...)
	add(c.Agent...)
	add(c.Env...)
	for _, part := range filepath.SplitList(c.Classpath) {
		if err := sumOf(h, part); err != nil {
			t.Fatalf("reading the classes of a program: %v", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// machine is what of the machine a session depends on.
func machine(t testing.TB) []string {
	t.Helper()
	var u syscall.Utsname
	if err := syscall.Uname(&u); err != nil {
		t.Fatal(err)
	}
	var release strings.Builder
	for _, c := range u.Release {
		release.WriteByte(byte(c))
	}
	paranoid, _ := os.ReadFile("/proc/sys/kernel/perf_event_paranoid") // not there: no perf
	return []string{release.String(), string(paranoid), fmt.Sprint(runtime.NumCPU(), os.Getuid())}
}

// builtSums are the sums of what was built, made once in a process.
func builtSums(files ...string) ([]string, error) {
	sumsOnce.Do(func() {
		for _, file := range files {
			h := sha256.New()
			if sumsOf[file], sumsErr = os.Stat(file); sumsErr != nil {
				return
			}
			if sumsErr = sumOf(h, file); sumsErr != nil {
				return
			}
			sums = append(sums, hex.EncodeToString(h.Sum(nil)))
		}
	})
	return sums, sumsErr
}

var (
	sumsOnce sync.Once
	sums     []string
	sumsErr  error
	sumsOf   = map[string]os.FileInfo{}
)

// sameBuild reports whether what was built is still what the sums are of: a session of something newer is not kept as of it.
func sameBuild() bool {
	for file, then := range sumsOf {
		now, err := os.Stat(file)
		if err != nil || !os.SameFile(now, then) || !now.ModTime().Equal(then.ModTime()) {
			return false
		}
	}
	return true
}

// sumOf adds a file, or all below a folder, to a sum.
func sumOf(h io.Writer, root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(h, "%s:", strings.TrimPrefix(path, root))
		_, err = io.Copy(h, f)
		return err
	})
}
