// Package testjvm runs Java programs for tests: it finds the JDKs of the
// machine, compiles the examples, runs them with and without the agent and
// reads back what the command says about the run. It is used by tests only.
package testjvm

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// JDK is an installed Java development kit.
type JDK struct {
	Home    string // as found, symbolic links resolved
	Version int    // feature release: 17, 25
	Full    string // JAVA_VERSION of the release file: "17.0.15"
	// Compiler is the home of the JDK that compiles for it: its own, except for a JRE.
	Compiler string
}

// Tool is the path of one of the JDK's programs ("java", "jfr"). Whoever asks for java starts a JVM, which is counted.
func (j JDK) Tool(name string) string {
	if name == "java" {
		Counted("jvm")
	}
	return filepath.Join(j.Home, "bin", name)
}

// javac is the compiler and the options by which it writes what the JDK can run.
func (j JDK) javac() []string {
	line := []string{filepath.Join(j.Compiler, "bin", "javac")}
	if j.Compiler != j.Home {
		line = append(line, "--release", strconv.Itoa(j.Version))
	}
	return line
}

// String names the JDK in test names: "jdk17".
func (j JDK) String() string { return "jdk" + strconv.Itoa(j.Version) }

// MoreVariable names further JDKs, their homes with colons between. A JRE
// will do: the newest of the JDKs compiles for it.
const MoreVariable = "STACKAGENT_MORE_JDKS"

// Find lists the JDKs (not JREs) that JAVA_HOME, the PATH and
// /usr/lib/jvm lead to, the first of each feature release only, oldest first; and
// of further releases those of MoreVariable.
func Find() ([]JDK, error) {
	var found []JDK
	seen := map[int]bool{}
	var problems []error
	for _, home := range candidates() {
		jdk, err := open(home)
		if err == nil {
			err = jdk.compiles()
		}
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if !seen[jdk.Version] {
			seen[jdk.Version] = true
			found = append(found, jdk)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no JDK found by JAVA_HOME, PATH or /usr/lib/jvm; install one (openjdk-17-jdk-headless): %w", errors.Join(problems...))
	}
	slices.SortFunc(found, func(a, b JDK) int { return a.Version - b.Version })
	return more(found, filepath.SplitList(os.Getenv(MoreVariable)))
}

// more adds the JDKs in homes to those found, oldest first, of releases that are not
// among them.
func more(found []JDK, homes []string) ([]JDK, error) {
	newest := found[len(found)-1]
	for _, home := range homes {
		jdk, err := open(home)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", MoreVariable, err)
		}
		if slices.ContainsFunc(found, func(j JDK) bool { return j.Version == jdk.Version }) {
			continue
		}
		if jdk.compiles() != nil {
			jdk.Compiler = newest.Home
		}
		if jdk.Compiler != jdk.Home && jdk.Version > newest.Version {
			return nil, fmt.Errorf("%s: %s has no compiler, and none here knows Java %d", MoreVariable, home, jdk.Version)
		}
		found = append(found, jdk)
	}
	slices.SortFunc(found, func(a, b JDK) int { return a.Version - b.Version })
	return found, nil
}

// candidates lists folders that may be a JDK, best first, each once.
func candidates() []string {
	var homes []string
	add := func(home string) {
		real, err := filepath.EvalSymlinks(home)
		if err == nil && !slices.Contains(homes, real) {
			homes = append(homes, real)
		}
	}
	if home := os.Getenv("JAVA_HOME"); home != "" {
		add(home)
	}
	if java, err := exec.LookPath("java"); err == nil {
		if real, err := filepath.EvalSymlinks(java); err == nil {
			add(filepath.Dir(filepath.Dir(real)))
		}
	}
	installed, _ := filepath.Glob("/usr/lib/jvm/*") // the pattern is well-formed
	for _, home := range installed {
		add(home)
	}
	return homes
}

// compiles returns why a JDK cannot compile.
func (j JDK) compiles() error {
	if _, err := os.Stat(filepath.Join(j.Home, "bin", "javac")); err != nil {
		return fmt.Errorf("%s is not a JDK: %w", j.Home, err)
	}
	return nil
}

// open reads the release file of a JDK, or a run time.
func open(home string) (JDK, error) {
	full, err := releaseVersion(filepath.Join(home, "release"))
	if err != nil {
		return JDK{}, err
	}
	digits := full
	if i := strings.IndexFunc(full, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits = full[:i]
	}
	version, err := strconv.Atoi(digits)
	if err != nil {
		return JDK{}, fmt.Errorf("version %q of the JDK in %s: %w", full, home, err)
	}
	return JDK{Home: home, Version: version, Full: full, Compiler: home}, nil
}

func releaseVersion(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("reading the version of a JDK: %w", err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "JAVA_VERSION="); ok {
			return strings.Trim(v, `"`), nil
		}
	}
	return "", fmt.Errorf("no JAVA_VERSION in %s", path)
}

var find = sync.OnceValues(Find)

// JDKsInTurn is JDKs for slow tests: outside the full run one of them, which depends on the test's name, so that each JDK
// gets about half of these tests. Those older than oldest, if that is given, do not count; there may be no other.
func JDKsInTurn(t testing.TB, oldest ...int) []JDK {
	t.Helper()
	all := slices.DeleteFunc(slices.Clone(JDKs(t)), func(j JDK) bool { return len(oldest) > 0 && j.Version < oldest[0] })
	if full() || os.Getenv("STACKAGENT_JDKS") != "" || len(all) == 0 {
		return all
	}
	i := inTurn(t, len(all))
	return all[i : i+1]
}

// full reports whether this is one of the full runs: of the matrix, of all classes, of the attacks.
func full() bool {
	return os.Getenv("STACKAGENT_E2E") == "full" || os.Getenv("STACKAGENT_ALL_CLASSES") == "1" || os.Getenv("STACKAGENT_TORTURE") == "full"
}

// inTurn is one of n numbers, which depends on the test's name, or 0 in the full run.
func inTurn(t testing.TB, n int) int {
	if full() {
		return 0
	}
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	return int(h.Sum32() % uint32(n))
}

// JDKs is Find for tests: it fails the test where there is none, and where
// STACKAGENT_JDKS ("17,25") names the versions that must be there and one is not.
func JDKs(t testing.TB) []JDK {
	t.Helper()
	found, err := find()
	if err != nil {
		t.Fatal(err)
	}
	for want := range strings.SplitSeq(os.Getenv("STACKAGENT_JDKS"), ",") {
		if want != "" && !slices.ContainsFunc(found, func(j JDK) bool { return strconv.Itoa(j.Version) == want }) {
			t.Fatalf("STACKAGENT_JDKS asks for JDK %s; found only %v", want, found)
		}
	}
	return found
}
