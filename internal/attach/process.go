package attach

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/proc"
)

// procFS is where the kernel shows processes.
const procFS = "/proc"

// cgroupFS is where it shows their control groups.
const cgroupFS = "/sys/fs/cgroup"

// Process is what the kernel shows of a process to others.
type Process struct {
	PID      int    // as we see it
	InnerPID int    // as it sees itself: that of the innermost pid namespace
	UID, GID int    // effective
	Root     string // its root folder, seen from here
	LibJVM   string // path of its libjvm.so as it sees it; "" if it has none
	Agent    string // path of an agent library that it has loaded, as it sees it; "" if none
	Args     []string

	// Slow says what is waited for, and how long at most, when it takes long; nil: nobody wants to know.
	Slow func(what string)

	options     []string // of the JVM, those of its environment included, in the order in which they apply
	catchesQuit bool     // it handles SIGQUIT
	started     uint64   // proc.Stat.Start, which no later process with this id has
	dir         proc.Dir
	cgroups     string // where the kernel shows control groups
}

// An Error says why a process cannot be attached to and what to do.
type Error struct {
	PID    int
	Reason string
	Remedy string // "" if there is none
	Err    error  // the cause, or nil
}

func (e *Error) Error() string {
	s := fmt.Sprintf("process %d: %s", e.PID, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Inspect looks at a process. library is the file name of the agent library.
// It fails if the process is not a HotSpot JVM that can be attached to.
func Inspect(pid int, library string) (*Process, error) { return inspect(procFS, pid, library) }

// Look looks at a process, JVM or not. With fs.ErrPermission it still returns what
// everybody may know; only the libraries are unknown.
func Look(pid int, library string) (*Process, error) { return look(procFS, pid, library) }

func inspect(root string, pid int, library string) (*Process, error) {
	p, err := look(root, pid, library)
	if err != nil {
		return nil, err
	}
	return p, p.check()
}

func look(root string, pid int, library string) (*Process, error) {
	dir := proc.Dir(filepath.Join(root, strconv.Itoa(pid)))
	p := &Process{PID: pid, InnerPID: pid, Root: dir.Path("root"), dir: dir, cgroups: cgroupFS}
	status, err := dir.Status()
	if errors.Is(err, proc.ErrEnded) {
		return nil, &Error{PID: pid, Reason: "no such process"}
	}
	if err == nil {
		err = p.readStatus(status)
	}
	if err != nil {
		return nil, &Error{PID: pid, Reason: "its state cannot be read", Err: err}
	}
	if stat, err := dir.Stat(); err == nil {
		p.started = stat.Start
	}
	if cmdline, err := dir.Read("cmdline"); err == nil {
		p.Args = strings.Split(strings.TrimSuffix(string(cmdline), "\x00"), "\x00")
	}
	p.readOptions()
	if err := p.readMaps(library); err != nil {
		return p, p.forbidden(err)
	}
	return p, nil
}

// check finds what the JVM would refuse, or answer by printing to the program's output.
func (p *Process) check() error {
	if p.LibJVM == "" {
		return &Error{PID: p.PID, Reason: "is no JVM (it has no libjvm.so mapped)"}
	}
	if p.sets("DisableAttachMechanism", '+') {
		return &Error{PID: p.PID, Reason: "was started with -XX:+DisableAttachMechanism", Remedy: "start it without, or with the agent"}
	}
	if p.sets("EnableDynamicAgentLoading", '-') && p.Agent == "" {
		return &Error{PID: p.PID, Reason: "was started with -XX:-EnableDynamicAgentLoading", Remedy: "start it with -XX:+EnableDynamicAgentLoading, or with the agent"}
	}
	return nil
}

// sets reports whether the last option about flag has this sign.
func (p *Process) sets(flag string, sign byte) bool {
	for _, o := range slices.Backward(p.options) {
		if rest, ok := strings.CutPrefix(o, "-XX:"); ok && len(rest) > 0 && rest[1:] == flag {
			return rest[0] == sign
		}
	}
	return false
}

// readOptions collects the options of the JVM from its arguments and from the
// variables that it and its launcher read: a JVM that takes no agents would print its
// threads to the program's output.
func (p *Process) readOptions() {
	variables := map[string][]string{}
	if environ, err := p.dir.Read("environ"); err == nil {
		for v := range strings.SplitSeq(string(environ), "\x00") {
			name, value, _ := strings.Cut(v, "=")
			switch name {
			case "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS":
				variables[name] = strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(value))
			}
		}
	}
	p.options = slices.Concat(variables["JAVA_TOOL_OPTIONS"], variables["JDK_JAVA_OPTIONS"], p.Args, variables["_JAVA_OPTIONS"])
}

// forbidden explains why the kernel refuses access to the process, and who has it.
func (p *Process) forbidden(err error) error {
	return p.forbiddenTo(os.Geteuid(), mayTrace(p.sibling("self")), err)
}

// forbiddenTo is forbidden for effective user uid; trace: it may look into processes
// of others.
func (p *Process) forbiddenTo(uid int, trace bool, err error) error {
	e := &Error{PID: p.PID, Reason: "it cannot be looked into", Err: err}
	switch {
	case !errors.Is(err, fs.ErrPermission):
	case uid != 0 && uid != p.UID:
		e.Reason = fmt.Sprintf("belongs to user %d", p.UID)
		e.Remedy = "run this command as that user or as root"
	case uid != 0:
		e.Reason = fmt.Sprintf("belongs to user %d, as this command, but has other groups or capabilities", p.UID)
		e.Remedy = "run this command as root"
	case !trace:
		e.Reason = fmt.Sprintf("belongs to user %d, and this root has not the right to look into others (CAP_SYS_PTRACE)", p.UID)
		e.Remedy = fmt.Sprintf("run this command as user %d, or give the right (docker run --cap-add SYS_PTRACE)", p.UID)
	default:
		e.Reason = fmt.Sprintf("not even root may look into it; its program is %q", p.program())
		e.Remedy = "if that is a JVM: a security module or a user namespace protects it, and its log says which; run this command beside it, or start it with the agent"
	}
	return e
}

// sibling is the folder of another process under the same /proc.
func (p *Process) sibling(name string) proc.Dir {
	return proc.Dir(filepath.Join(filepath.Dir(string(p.dir)), name))
}

// program is the file name of its program, if that is known.
func (p *Process) program() string {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "unknown"
	}
	return filepath.Base(p.Args[0])
}

// capSysPtrace is the number of CAP_SYS_PTRACE.
const capSysPtrace = 19

// mayTrace reports whether this process has CAP_SYS_PTRACE. If that cannot be
// read, it is assumed.
func mayTrace(self proc.Dir) bool {
	status, err := self.Status()
	if err != nil {
		return true
	}
	set, err := status.Capabilities()
	return err != nil || set&(1<<capSysPtrace) != 0
}

const quitSignal = 3

func (p *Process) readStatus(s proc.Status) (err error) {
	if p.UID, p.GID, err = s.Owner(); err != nil {
		return err
	}
	if p.InnerPID, _, err = s.Inner(); errors.Is(err, proc.ErrNoField) {
		p.InnerPID, err = p.PID, nil
	}
	caught, err2 := s.Catches(quitSignal)
	if errors.Is(err2, proc.ErrNoField) {
		err2 = nil
	}
	p.catchesQuit = caught
	return errors.Join(err, err2)
}

// readMaps looks for the libraries that matter.
func (p *Process) readMaps(library string) error {
	f, err := os.Open(p.dir.Path("maps"))
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		i := strings.IndexByte(lines.Text(), '/')
		if i < 0 {
			continue
		}
		path := strings.TrimSuffix(lines.Text()[i:], " (deleted)")
		switch filepath.Base(path) {
		case "libjvm.so":
			p.LibJVM = path
		case library:
			p.Agent = path
		}
	}
	return lines.Err()
}

// SharesFiles reports whether the process sees our root folder and our /tmp, so
// that a path means the same file here and there.
func (p *Process) SharesFiles() bool {
	for _, dir := range []string{"/", "/tmp"} {
		ours, err1 := os.Stat(dir)
		its, err2 := os.Stat(filepath.Join(p.Root, dir))
		if err1 != nil || err2 != nil || !os.SameFile(ours, its) {
			return false
		}
	}
	return p.sharesNamespace("mnt")
}

// SharesNetwork reports whether its loopback address is ours.
func (p *Process) SharesNetwork() bool { return p.sharesNamespace("net") }

func (p *Process) sharesNamespace(kind string) bool {
	ours, err1 := os.Readlink(p.sibling("self").Path("ns/" + kind))
	its, err2 := os.Readlink(p.dir.Path("ns/" + kind))
	return err1 == nil && err2 == nil && ours == its
}

// Alive reports whether the process still runs, and not another one that has got
// its id since.
func (p *Process) Alive() bool {
	stat, err := p.dir.Stat()
	return err == nil && !stat.Ended() && stat.Start == p.started
}
