package jdk

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// install makes a Java installation that can be found but not run.
func install(t *testing.T, dir, release string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/java": "#!/bin/sh\n", "release": release} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	home := install(t, filepath.Join(dir, "home"), "JAVA_VERSION=\"21.0.2\"\nIMPLEMENTOR=\"Some Vendor\"\nLIBC=\"musl\"\n")
	onPath := install(t, filepath.Join(dir, "path"), "JAVA_VERSION=\"1.8.0_412\"\n")
	sdkman := install(t, filepath.Join(dir, "user/.sdkman/candidates/java/x"), "nonsense\n")
	link := filepath.Join(dir, "bin")
	if err := os.MkdirAll(link, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(onPath, "bin/java"), filepath.Join(link, "java")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", link)
	defer func(old []string) { folders = old }(folders)
	folders = []string{filepath.Join(dir, "missing"), filepath.Join(dir)} // lists home and path again
	env := map[string]string{"JAVA_HOME": home, "HOME": filepath.Join(dir, "user")}
	got := Find(func(name string) string { return env[name] })
	want := []Home{
		{Path: home, From: "JAVA_HOME", Version: "21.0.2", Vendor: "Some Vendor", Libc: "musl"},
		{Path: onPath, From: "PATH", Version: "1.8.0_412"},
		{Path: sdkman, From: filepath.Dir(sdkman)},
	}
	if len(got) != len(want) {
		t.Fatalf("found %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %+v, want %+v", i, got[i], want[i])
		}
	}
	for i, feature := range []int{21, 8, 0} {
		if n := got[i].Feature(); n != feature {
			t.Errorf("%s: feature %d, want %d", got[i], n, feature)
		}
	}
}

func FuzzParseRelease(f *testing.F) {
	f.Add("JAVA_VERSION=\"17.0.15\"\n")
	f.Add("JAVA_VERSION=1.\n=\n")
	f.Add("JAVA_VERSION=99999999999999999999999\n")
	f.Fuzz(func(t *testing.T, s string) {
		var h Home
		h.parseRelease(strings.NewReader(s))
		if h.Feature() < 0 {
			t.Errorf("%q: version %q gives feature %d", s, h.Version, h.Feature())
		}
	})
}
