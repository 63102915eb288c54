package attach

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
)

// process makes a folder as /proc has one.
func process(t *testing.T, status, maps string, args ...string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"status": status, "maps": maps, "cmdline": strings.Join(args, "\x00") + "\x00"} {
		path := filepath.Join(root, "77", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const (
	someStatus = "Name:\tjava\nUid:\t1000\t1001\t1000\t1000\nGid:\t100\t101\t100\t100\nNSpid:\t77\t1\nSigCgt:\t0000000000000004\n"
	someMaps   = "7f00-7f01 r-xp 00000000 08:01 1 /opt/jdk/lib/server/libjvm.so\n7f02-7f03 rw-p 00000000 00:00 0\n"
)

func TestInspect(t *testing.T) {
	maps := someMaps + "7f04-7f05 r-xp 00000000 08:01 2 /tmp/a b/libagent.so (deleted)\n"
	p, err := inspect(process(t, someStatus, maps, "java", "-jar", "x"), 77, "libagent.so")
	if err != nil {
		t.Fatal(err)
	}
	if p.InnerPID != 1 || p.UID != 1001 || p.GID != 101 || !p.catchesQuit || p.Agent != "/tmp/a b/libagent.so" || p.LibJVM != "/opt/jdk/lib/server/libjvm.so" {
		t.Errorf("%+v", p)
	}
	if want := "/tmp/.java_pid1"; !strings.HasSuffix(p.socket(), want) {
		t.Errorf("socket %s, want ...%s", p.socket(), want)
	}
}

func TestInspectRefuses(t *testing.T) {
	for _, c := range []struct {
		name, status, maps string
		args               []string
		want               string
	}{
		{"no JVM", someStatus, "", []string{"sh"}, "is no JVM"},
		{"attaching is off", someStatus, someMaps, []string{"java", "-XX:+DisableAttachMechanism"}, "-XX:+DisableAttachMechanism"},
		{"loading is off", someStatus, someMaps, []string{"java", "-XX:-EnableDynamicAgentLoading"}, "-XX:+EnableDynamicAgentLoading"},
		{"no user", "Name:\tx\n", someMaps, nil, "no user and group"},
		{"damaged", "Uid:\t1\tx\n", someMaps, nil, "Uid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := inspect(process(t, c.status, c.maps, c.args...), 77, "libagent.so")
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one about %q", err, c.want)
			}
		})
	}
	if _, err := inspect(t.TempDir(), 77, "libagent.so"); err == nil || !strings.Contains(err.Error(), "no such process") {
		t.Errorf("no process: %v", err)
	}
}

// TestInspectOptions: the options of a JVM come from its environment, too, and the
// last one counts.
func TestInspectOptions(t *testing.T) {
	const off, on = "-XX:+DisableAttachMechanism", "-XX:-DisableAttachMechanism"
	for _, c := range []struct {
		name, environ, arg string
		refused            bool
	}{
		{"tools'", "A=b\x00JAVA_TOOL_OPTIONS=-Xmx1g '" + off + "'\x00", "-Xint", true},
		{"the launcher's", "JDK_JAVA_OPTIONS=" + off + "\x00", "-Xint", true},
		{"the JVM's own", "_JAVA_OPTIONS=" + off + "\x00", on, true},
		{"overruled by an argument", "JAVA_TOOL_OPTIONS=" + off + "\x00", on, false},
		{"overruled by the environment", "_JAVA_OPTIONS=" + on + "\x00", off, false},
		{"another variable", "OPTIONS=" + off + "\x00", "-Xint", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := process(t, someStatus, someMaps, "java", c.arg)
			if err := os.WriteFile(filepath.Join(root, "77", "environ"), []byte(c.environ), 0o400); err != nil {
				t.Fatal(err)
			}
			_, err := inspect(root, 77, "libagent.so")
			if (err != nil) != c.refused || c.refused && !strings.Contains(err.Error(), off) {
				t.Errorf("%v, refused is to be %v", err, c.refused)
			}
		})
	}
}

// TestPlaceNot: where nothing can be written it is said what to do about it.
func TestPlaceNot(t *testing.T) {
	p := &Process{PID: 77}
	for _, cause := range []error{unix.EROFS, unix.ENOSPC} {
		err := p.noPlace(&fs.PathError{Op: "mkdirat", Path: "x", Err: cause})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "/tmp cannot be written") {
			t.Errorf("%v: %v", cause, err)
		}
	}
}

// Who is refused learns what would help: root is not sent to root.
func TestForbidden(t *testing.T) {
	denied := &fs.PathError{Op: "open", Path: "/proc/1/maps", Err: fs.ErrPermission}
	p := &Process{PID: 1, UID: 1000, Args: []string{"/sbin/init", "splash"}}
	for _, c := range []struct {
		name      string
		uid       int
		trace     bool
		err       error
		want, not string
	}{
		{"another user", 500, false, denied, "run this command as that user or as root", "CAP"},
		{"the same user", 1000, false, denied, "run this command as root", "that user"},
		{"root without the right", 0, false, denied, "--cap-add SYS_PTRACE", "as root"},
		{"root", 0, true, denied, `its program is "init"`, "as root"},
		{"no permission is the matter", 500, false, errors.New("read-only file system"), "read-only file system", "as root"},
	} {
		if err := p.forbiddenTo(c.uid, c.trace, c.err); !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), c.not) || !errors.Is(err, c.err) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestMayTrace(t *testing.T) {
	for text, want := range map[string]bool{
		"Name:\tx\nCapEff:\t0000000000080000\n": true, "CapEff:\t000001fffff7ffff\n": false, "CapEff:\tx\n": true, "Name:\tx\n": true,
	} {
		root := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(root, "self"), 0o755), os.WriteFile(filepath.Join(root, "self", "status"), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
		if got := mayTrace(proc.Dir(filepath.Join(root, "self"))); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// A JVM that would die of the signal, or print its threads, does not get it.
func TestWakeSpares(t *testing.T) {
	status := strings.Replace(someStatus, "0000000000000004", "0000000000000000", 1)
	p, err := inspect(process(t, status, someMaps, "java", "-Xrs"), 77, "libagent.so")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.wake(t.Context()); err == nil || !strings.Contains(err.Error(), "-Xrs") {
		t.Errorf("error %v", err)
	}
}

// What a process of another user can read depends on every folder above.
func TestCanRead(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lib.so")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	p := &Process{PID: os.Getpid(), UID: os.Geteuid(), Root: "/", dir: proc.Self}
	if !p.CanRead(file) {
		t.Error("our own file")
	}
	p.UID = 54321
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if p.CanRead(file) {
		t.Error("a file in a folder of ours alone")
	}
	p.Root = dir
	if p.CanRead(file) {
		t.Error("a process with a root of its own")
	}
}

func TestPlace(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &Process{PID: os.Getpid(), UID: os.Geteuid(), GID: os.Getegid(), Root: root}
	f, err := p.Place()
	if err != nil {
		t.Fatal(err)
	}
	inside, err := f.Write("token", strings.NewReader("secret"), 0o400)
	if err != nil || filepath.Dir(filepath.Dir(inside)) != "/tmp" {
		t.Errorf("%s, %v", inside, err)
	}
	info, err := os.Stat(filepath.Join(root, inside))
	folder, err2 := os.Stat(filepath.Join(root, f.Inside))
	if err != nil || err2 != nil || info.Mode().Perm() != 0o400 || folder.Mode().Perm() != 0o700 {
		t.Errorf("modes %v, %v (%v, %v)", info, folder, err, err2)
	}
	if _, err := f.Write("token", strings.NewReader("other"), 0o400); err == nil {
		t.Error("a file was overwritten")
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "tmp")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A process cannot make us write outside of its file system: not by a /tmp
// that leads elsewhere, nor by bending the folder that was given to it.
func TestPlaceStaysInside(t *testing.T) {
	root, outside := t.TempDir(), t.TempDir()
	p := &Process{PID: os.Getpid(), UID: os.Geteuid(), GID: os.Getegid(), Root: root}
	if err := os.Symlink(outside, filepath.Join(root, "tmp")); err != nil {
		t.Fatal(err)
	}
	if f, err := p.Place(); err == nil {
		t.Errorf("a folder was made through a link: %+v", f)
	}
	if err := errors.Join(os.Remove(filepath.Join(root, "tmp")), os.Mkdir(filepath.Join(root, "tmp"), 0o755)); err != nil {
		t.Fatal(err)
	}
	f, err := p.Place()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(root, f.Inside)
	if err := errors.Join(os.Rename(folder, folder+"-away"), os.Symlink(outside, folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write("token", strings.NewReader("secret"), 0o400); err != nil {
		t.Error(err)
	}
	if err := f.Remove(); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadDir(outside); err != nil || len(got) > 0 {
		t.Errorf("outside: %v, %v", got, err)
	}
}

// A process is not taken for a later one of its number, which a SIGQUIT might end.
func TestAlive(t *testing.T) {
	stat := func(state, started string) string {
		return "77 (a) b) " + state + strings.Repeat(" 1", 18) + " " + started + " 5 6 7\n"
	}
	root := process(t, someStatus, someMaps, "java")
	path := filepath.Join(root, "77", "stat")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(stat("S", "1000"))
	p, err := inspect(root, 77, "libagent.so")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{stat("S", "1000"): true, stat("R", "1000"): true, stat("Z", "1000"): false, stat("X", "1000"): false,
		stat("S", "1001"): false, "": false, "77 (x": false} {
		write(text)
		if p.Alive() != want {
			t.Errorf("%q: alive %v", text, !want)
		}
	}
	write(stat("S", "1001"))
	if err := p.wake(t.Context()); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("waking another: %v", err)
	}
	us := &Process{PID: os.Getpid(), dir: proc.Self}
	if stat, err := us.dir.Stat(); err == nil {
		us.started = stat.Start
	}
	if us.started == 0 || !us.Alive() {
		t.Errorf("this process was started at %d and is not alive", us.started)
	}
}

// The file that wakes a JVM is a new one, whatever lay there.
func TestTriggerIsNew(t *testing.T) {
	dir := t.TempDir()
	other, path := filepath.Join(dir, "other"), filepath.Join(dir, ".attach_pid1")
	if err := errors.Join(os.WriteFile(other, []byte("x"), 0o600), os.Link(other, path)); err != nil {
		t.Fatal(err)
	}
	f, err := newFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ours, err1 := f.Stat()
	its, err2 := os.Stat(other)
	if err1 != nil || err2 != nil || os.SameFile(ours, its) {
		t.Errorf("the other file: %v, %v", err1, err2)
	}
}
