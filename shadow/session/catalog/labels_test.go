package catalog

import (
	"slices"
	"testing"
)

func TestFolderLabels(t *testing.T) {
	for _, c := range []struct{ dirs, want []string }{
		{[]string{"out/a/"}, []string{"a"}},
		{[]string{"out/threads-1/run-1", "out/threads-2/run-1"}, []string{"threads-1", "threads-2"}},
		{[]string{"out/threads-1/run-1", "./out/threads-1/run-2", "out/threads-2/run-1"}, []string{"threads-1/run-1", "threads-1/run-2", "threads-2/run-1"}},
		{[]string{"/a/x", "/b/x"}, []string{"a", "b"}},
		{[]string{"x", "x"}, []string{"x", "x"}},
		{[]string{"out", "out/old"}, []string{"out", "out/old"}},
		{[]string{"/tmp/before", "after"}, []string{"/tmp/before", "after"}},
	} {
		if got := FolderLabels(c.dirs); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.dirs, got, c.want)
		}
	}
}

func TestConfigurationOf(t *testing.T) {
	for dir, want := range map[string]string{
		"out/threads-2/run-1": "out/threads-2", "out/threads-2/run-17/": "out/threads-2", "out/threads-2": "out/threads-2",
		"out/run-x": "out/run-x", "out/run-": "out/run-", "run-1": "run-1",
	} {
		if got := ConfigurationOf(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}
