// Package jdk finds the Java installations of a machine and reads
// their versions from their release files, without starting them.
package jdk

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Oldest is the oldest Java that the agent supports.
const Oldest = 17

// Home is a Java installation.
type Home struct {
	Path    string // symbolic links resolved
	From    string // how it was found: "JAVA_HOME", "PATH", or the folder searched
	Version string // JAVA_VERSION of its release file; "" if not known
	Vendor  string // IMPLEMENTOR
	Libc    string // LIBC: "gnu" or "musl"; "" if not said
}

// Java is its launcher.
func (h Home) Java() string { return filepath.Join(h.Path, "bin", "java") }

// Feature is the version's first number (17 of "17.0.15"), 8 for "1.8.0"; 0 if
// not known.
func (h Home) Feature() int {
	words := strings.FieldsFunc(h.Version, func(r rune) bool { return r < '0' || r > '9' })
	if len(words) > 1 && words[0] == "1" {
		words = words[1:]
	}
	if len(words) == 0 {
		return 0
	}
	n, err := strconv.Atoi(words[0])
	if err != nil {
		return 0
	}
	return n
}

// folders are where packagers put Java installations.
var folders = []string{"/usr/lib/jvm", "/usr/java", "/opt/java", "/opt/jdks"}

// Find lists the installations: that of JAVA_HOME first, then that of the java
// on PATH, then those of the usual folders and of SDKMAN. Each is listed once.
func Find(getenv func(string) string) []Home {
	var homes []Home
	seen := map[string]bool{}
	add := func(path, from string) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			return
		}
		if info, err := os.Stat(filepath.Join(real, "bin", "java")); err != nil || info.IsDir() {
			return
		}
		seen[real] = true
		h := Home{Path: real, From: from}
		h.readRelease()
		homes = append(homes, h)
	}
	if home := getenv("JAVA_HOME"); home != "" {
		add(home, "JAVA_HOME")
	}
	if java, err := exec.LookPath("java"); err == nil {
		if real, err := filepath.EvalSymlinks(java); err == nil {
			add(filepath.Dir(filepath.Dir(real)), "PATH")
		}
	}
	search := folders
	if home := getenv("HOME"); home != "" {
		search = append(search[:len(search):len(search)], filepath.Join(home, ".sdkman/candidates/java"), filepath.Join(home, ".jdks"))
	}
	for _, dir := range search {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			add(filepath.Join(dir, e.Name()), dir)
		}
	}
	return homes
}

// Of is the installation that a launcher belongs to; its version is not known
// when it has no release file beside it.
func Of(java string) Home {
	if real, err := filepath.EvalSymlinks(java); err == nil {
		java = real
	}
	h := Home{Path: filepath.Dir(filepath.Dir(java)), From: java}
	h.readRelease()
	return h
}

// readRelease takes the version out of the file "release" of the installation.
func (h *Home) readRelease() {
	f, err := os.Open(filepath.Join(h.Path, "release"))
	if err != nil {
		return
	}
	defer f.Close()
	h.parseRelease(f)
}

func (h *Home) parseRelease(r io.Reader) {
	lines := bufio.NewScanner(io.LimitReader(r, 1<<20))
	for lines.Scan() {
		key, value, ok := strings.Cut(lines.Text(), "=")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch strings.TrimSpace(key) {
		case "JAVA_VERSION":
			h.Version = value
		case "IMPLEMENTOR":
			h.Vendor = value
		case "LIBC":
			h.Libc = value
		}
	}
}

// String is the installation in words.
func (h Home) String() string {
	version := h.Version
	if version == "" {
		version = "version not known"
	}
	return fmt.Sprintf("%s, %s (found by %s)", version, h.Path, h.From)
}
