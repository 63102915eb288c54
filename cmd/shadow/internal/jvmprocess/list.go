package jvmprocess

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/attach"
	"stackagent/internal/launch"
	"stackagent/internal/text"
)

// JVM is a running JVM that this user may look into.
type JVM struct {
	PID  int
	Main string // main class, or the name of its jar; "" if the command line does not say
}

// List lists the JVMs of this machine that this user may look into.
func List() []JVM {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []JVM
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if p, err := attach.Look(pid, launch.LibraryName); err != nil || p.LibJVM == "" {
			continue
		}
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended; then it has no name
		list = append(list, JVM{pid, text.Clean(mainOf(line), '?')})
	}
	slices.SortFunc(list, func(a, b JVM) int { return a.PID - b.PID })
	return list
}

// withValue are the options of the java launcher whose value is the next argument.
var withValue = []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules",
	"--add-reads", "--add-exports", "--add-opens", "--limit-modules", "--patch-module", "--source"}

// OptionsOf are the JVM's options of a command line of the java launcher: what is before the main class, module or jar.
// A word in braces may stand for options.
func OptionsOf(line []string) []string {
	for i := 1; i < len(line); i++ {
		w := line[i]
		switch {
		case slices.Contains(withValue, w):
			i++
		case w == "" || !strings.Contains("-@{", w[:1]), slices.Contains([]string{"-jar", "-m", "--module"}, w), strings.HasPrefix(w, "--module="):
			return line[1:i]
		}
	}
	return line[1:]
}

// mainOf finds the main class, module or jar in a command line with zero bytes between its words.
func mainOf(line []byte) string {
	words := strings.Split(string(bytes.TrimRight(line, "\x00")), "\x00")
	for i := 1; i < len(words); i++ {
		w := words[i]
		switch {
		case slices.Contains([]string{"-jar", "-m", "--module"}, w) && i+1 < len(words):
			return path.Base(words[i+1])
		case strings.HasPrefix(w, "--module="):
			return path.Base(strings.TrimPrefix(w, "--module="))
		case slices.Contains(withValue, w):
			i++
		case w != "" && w[0] != '-' && w[0] != '@':
			return w
		}
	}
	return ""
}
