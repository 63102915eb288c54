package launch

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// LibraryName is the agent library's file name.
const LibraryName = "libstackagent.so"

// ToolOptions is the variable in which every JVM looks for more options.
const ToolOptions = "JAVA_TOOL_OPTIONS"

// LibraryError says what is wrong with the agent library and what to do.
type LibraryError struct {
	Path   string
	Reason string
	Err    error
}

func (e *LibraryError) Error() string { return fmt.Sprintf("agent library %s: %s", e.Path, e.Reason) }

// Unwrap gives the cause.
func (e *LibraryError) Unwrap() error { return e.Err }

// machines are the ELF machines of Go's architectures.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "riscv64": elf.EM_RISCV, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390,
}

// CheckLibrary makes sure that path is an agent library for this machine.
// It gives the absolute path, which is what a JVM needs.
func CheckLibrary(path string) (string, error) {
	if runtime.GOOS != "linux" {
		return "", &LibraryError{path, "the agent is for Linux: run the program and shadow there, and read the session here", errors.ErrUnsupported}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", &LibraryError{path, err.Error(), err}
	}
	if _, err := os.Stat(abs); err != nil {
		reason := err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			reason = "no such file; make builds it, --agent or STACKAGENT_AGENT names another one"
		}
		return "", &LibraryError{abs, reason, err}
	}
	f, err := elf.Open(abs)
	if err != nil {
		return "", &LibraryError{abs, "is not a shared library", err}
	}
	defer f.Close()
	if want, ok := machines[runtime.GOARCH]; ok && f.Machine != want {
		return "", &LibraryError{abs, fmt.Sprintf("is built for another machine (%s, this one is %s)", f.Machine, want), nil}
	}
	if f.Type != elf.ET_DYN {
		return "", &LibraryError{abs, "is not a shared library", nil}
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return "", &LibraryError{abs, "has no symbols", err}
	}
	for _, s := range symbols {
		if s.Name == "Agent_OnLoad" && s.Section != elf.SHN_UNDEF {
			return abs, nil
		}
	}
	return "", &LibraryError{abs, "is no agent of a JVM (it does not export Agent_OnLoad)", nil}
}

// IsJava reports whether a command is the Java launcher itself.
func IsJava(name string) bool { return filepath.Base(name) == "java" }

// WithAgent puts the agent in front of a JVM's own options: as the first
// argument of java, or through the environment of any other command. Other agents
// in the environment come after it, those of a command that is java before it.
func WithAgent(args, env []string, library, options string) (newArgs, newEnv []string, err error) {
	option := "-agentpath:" + library + "=" + options
	if IsJava(args[0]) {
		newArgs = append([]string{args[0], option}, args[1:]...)
		return newArgs, env, nil
	}
	quoted, err := quote(option)
	if err != nil {
		return nil, nil, err
	}
	return args, prependVariable(env, ToolOptions, quoted), nil
}

// quote protects blanks from the JVM, which splits JAVA_TOOL_OPTIONS at blanks
// outside of quotes and knows no escapes.
func quote(option string) (string, error) {
	switch {
	case !strings.ContainsAny(option, " \t\n\r\v\f'\""):
		return option, nil
	case !strings.Contains(option, `"`):
		return `"` + option + `"`, nil
	case !strings.Contains(option, `'`):
		return `'` + option + `'`, nil
	}
	return "", fmt.Errorf("%s cannot hold both kinds of quotes: %s", ToolOptions, option)
}

// prependVariable puts value before what the variable already holds: an agent must see what
// agents behind it do. Of several lines for one name the last counts, as it does for os/exec.
func prependVariable(env []string, name, value string) []string {
	out := make([]string, 0, len(env)+1)
	old := ""
	for _, line := range env {
		if held, ok := strings.CutPrefix(line, name+"="); ok {
			old = held
			continue
		}
		out = append(out, line)
	}
	if old != "" {
		value += " " + old
	}
	return append(out, name+"="+value)
}

// WithoutJavaOptions is an environment without the variables that give every JVM options: agents, perhaps, which have no business in a
// JVM that answers a question.
func WithoutJavaOptions(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains([]string{ToolOptions, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"}, name)
	})
}
