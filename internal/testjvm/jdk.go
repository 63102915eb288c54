// Package testjvm runs Java programs for tests: it finds the JDKs of the
// machine, compiles the examples, runs them with and without the agent and
// reads back what the command says about the run. It is used by tests only.
package testjvm

import (
	"bufio"
	"errors"
	"fmt"
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
}

// Tool is the path of one of the JDK's programs ("java", "javac", "jfr").
func (j JDK) Tool(name string) string { return filepath.Join(j.Home, "bin", name) }

// String names the JDK in test names: "jdk17".
func (j JDK) String() string { return "jdk" + strconv.Itoa(j.Version) }

// Find lists the JDKs (not mere run times) that JAVA_HOME, the PATH and
// /usr/lib/jvm lead to, the first of each feature release only, oldest first.
func Find() ([]JDK, error) {
	var found []JDK
	seen := map[int]bool{}
	var problems []error
	for _, home := range candidates() {
		jdk, err := open(home)
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

// open reads the release file of a JDK and checks that it can compile.
func open(home string) (JDK, error) {
	if _, err := os.Stat(filepath.Join(home, "bin", "javac")); err != nil {
		return JDK{}, fmt.Errorf("%s is not a JDK: %w", home, err)
	}
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
	return JDK{Home: home, Version: version, Full: full}, nil
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
