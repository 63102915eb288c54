package attach

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Proc is where the kernel shows processes.
const Proc = "/proc"

// Process is what the kernel tells of a process from outside.
type Process struct {
	PID      int    // as we see it
	InnerPID int    // as it sees itself: that of the innermost pid namespace
	UID, GID int    // effective
	Root     string // its root folder, seen from here
	LibJVM   string // path of its libjvm.so as it sees it; "" if it has none
	Agent    string // path of an agent library that it has loaded, as it sees it; "" if none
	Args     []string

	options     []string // of the JVM, in the order in which it takes them: those of its environment, too
	catchesQuit bool     // it handles SIGQUIT
	started     string   // when, in the kernel's words: tells it from a later one of the number
	proc        string
}

// An Error says why a process cannot be attached to, and what to do about it.
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
// It is an error if the process is no HotSpot JVM that can be attached to.
func Inspect(pid int, library string) (*Process, error) { return inspect(Proc, pid, library) }

// Look looks at a process, JVM or not. With an error that is fs.ErrPermission it
// still tells what everybody may know; the libraries are not known.
func Look(pid int, library string) (*Process, error) { return look(Proc, pid, library) }

func inspect(proc string, pid int, library string) (*Process, error) {
	p, err := look(proc, pid, library)
	if err != nil {
		return nil, err
	}
	return p, p.check()
}

func look(proc string, pid int, library string) (*Process, error) {
	dir := filepath.Join(proc, strconv.Itoa(pid))
	p := &Process{PID: pid, InnerPID: pid, Root: filepath.Join(dir, "root"), proc: dir}
	status, err := readSmall(filepath.Join(dir, "status"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{PID: pid, Reason: "no such process"}
	}
	if err == nil {
		err = p.readStatus(status)
	}
	if err != nil {
		return nil, &Error{PID: pid, Reason: "its state can not be read", Err: err}
	}
	_, p.started = p.readStat()
	if cmdline, err := readSmall(filepath.Join(dir, "cmdline")); err == nil {
		p.Args = strings.Split(strings.TrimSuffix(cmdline, "\x00"), "\x00")
	}
	p.readOptions()
	if err := p.readMaps(library); err != nil {
		return p, p.forbidden(err)
	}
	return p, nil
}

// check finds what the JVM itself would refuse, or answer by printing on the
// program's output.
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

// sets tells whether the last option that sets flag does it with that sign.
func (p *Process) sets(flag string, sign byte) bool {
	for _, o := range slices.Backward(p.options) {
		if rest, ok := strings.CutPrefix(o, "-XX:"); ok && len(rest) > 0 && rest[1:] == flag {
			return rest[0] == sign
		}
	}
	return false
}

// readOptions collects the options of the JVM from its arguments and from the
// variables that it and its launcher read: one that does not take agents would
// answer by printing its threads on the program's output.
func (p *Process) readOptions() {
	variables := map[string][]string{}
	if environ, err := readSmall(filepath.Join(p.proc, "environ")); err == nil {
		for _, v := range strings.Split(environ, "\x00") {
			name, value, _ := strings.Cut(v, "=")
			switch name {
			case "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS":
				variables[name] = strings.Fields(strings.NewReplacer(`"`, "", "'", "").Replace(value))
			}
		}
	}
	p.options = slices.Concat(variables["JAVA_TOOL_OPTIONS"], variables["JDK_JAVA_OPTIONS"], p.Args, variables["_JAVA_OPTIONS"])
}

// forbidden says why the kernel refuses something with the process, and who
// may: that depends on who asks.
func (p *Process) forbidden(err error) error {
	return p.forbiddenTo(os.Geteuid(), mayTrace(p.proc), err)
}

// forbiddenTo is for effective user uid; trace tells whether it has the right to
// look into processes of others.
func (p *Process) forbiddenTo(uid int, trace bool, err error) error {
	e := &Error{PID: p.PID, Reason: "it can not be looked into", Err: err}
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

// program is the file name of what it runs, as far as it is told.
func (p *Process) program() string {
	if len(p.Args) == 0 || p.Args[0] == "" {
		return "unknown"
	}
	return filepath.Base(p.Args[0])
}

// capSysPtrace is the number of CAP_SYS_PTRACE.
const capSysPtrace = 19

// mayTrace tells whether this process has CAP_SYS_PTRACE; proc is the folder of
// some process. What can not be read forbids nothing.
func mayTrace(proc string) bool {
	status, err := readSmall(filepath.Join(filepath.Dir(proc), "self", "status"))
	if err != nil {
		return true
	}
	for line := range strings.Lines(status) {
		if text, ok := strings.CutPrefix(line, "CapEff:"); ok {
			mask, err := strconv.ParseUint(strings.TrimSpace(text), 16, 64)
			return err != nil || mask&(1<<capSysPtrace) != 0
		}
	}
	return true
}

const quitSignal = 3

func (p *Process) readStatus(text string) error {
	found := 0
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		words := strings.Fields(value)
		if len(words) == 0 {
			continue
		}
		var err error
		switch key {
		case "Uid", "Gid": // real, effective, saved, file system
			if len(words) < 2 {
				return fmt.Errorf("line %q", line)
			}
			id := &p.UID
			if key == "Gid" {
				id = &p.GID
			}
			*id, err = strconv.Atoi(words[1])
			found++
		case "NSpid":
			p.InnerPID, err = strconv.Atoi(words[len(words)-1])
		case "SigCgt":
			var mask uint64
			mask, err = strconv.ParseUint(words[0], 16, 64)
			p.catchesQuit = mask&(1<<(quitSignal-1)) != 0
		}
		if err != nil {
			return fmt.Errorf("line %q: %w", strings.TrimSpace(line), err)
		}
	}
	if found != 2 {
		return errors.New("no user and group in its status")
	}
	return nil
}

// readMaps looks for the libraries that matter.
func (p *Process) readMaps(library string) error {
	f, err := os.Open(filepath.Join(p.proc, "maps"))
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

// readSmall reads a file of /proc.
func readSmall(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(b), err
}

// SharesFiles tells whether the process sees our root folder and our /tmp, so
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

// SharesNetwork tells whether its loopback address is ours.
func (p *Process) SharesNetwork() bool { return p.sharesNamespace("net") }

func (p *Process) sharesNamespace(kind string) bool {
	ours, err1 := os.Readlink(filepath.Join(filepath.Dir(p.proc), "self", "ns", kind))
	its, err2 := os.Readlink(filepath.Join(p.proc, "ns", kind))
	return err1 == nil && err2 == nil && ours == its
}

// Alive tells whether the process still runs, it and not another that has been
// given its number since.
func (p *Process) Alive() bool {
	state, started := p.readStat()
	return state != "" && state != "Z" && state != "X" && started == p.started
}

// readStat reads the state and when it was started; "" if it is gone.
func (p *Process) readStat() (state, started string) {
	const startTime = 22 - 3 // proc(5) counts from 1, and the state is the third
	stat, err := readSmall(filepath.Join(p.proc, "stat"))
	if err != nil {
		return "", ""
	}
	words := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(words) <= startTime {
		return "", ""
	}
	return words[0], words[startTime]
}
