package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/shadow/show/report"
)

// offered is what a shell would be offered for the last word of a command line: cobra's own question.
func offered(t *testing.T, words ...string) (list []string, directive int) {
	t.Helper()
	code, out, errs := shadow(t, nil, append([]string{"__complete"}, words...)...)
	if code != 0 {
		t.Fatalf("%q: exit %d: %s", words, code, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.TrimPrefix(lines[len(lines)-1], ":")
	directive, err := strconv.Atoi(last)
	if err != nil {
		t.Fatalf("%q: %q", words, out)
	}
	for _, l := range lines[:len(lines)-1] {
		word, _, _ := strings.Cut(l, "\t")
		list = append(list, word)
	}
	return list, directive
}

// TestCompletion: values of flags, verbs, sessions and metrics are offered, and only those that fit.
func TestCompletion(t *testing.T) {
	root := t.TempDir()
	dir := makeSession(t, root)
	t.Chdir(root)
	for _, d := range []string{"other", ".hidden", "line\nbreak"} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	session := filepath.Base(dir)
	for _, c := range []struct {
		words []string
		want  []string
	}{
		{[]string{"hotspots", session, "--by", ""}, []string{"class", "site", "executor", "thread", "context"}},
		{[]string{"hotspots", session, "--sort", "m"}, []string{"mean", "max"}},
		{[]string{"waits", session, "--by", "w"}, []string{"wait"}},
		{[]string{"path", session, "--by", "k"}, []string{"kind"}},
		{[]string{"threads", session, "--group", ""}, []string{"thread", "pool", "kind"}},
		{[]string{"tasks", session, "--format", ""}, []string{"table", "csv", "json", "parquet", "tgp"}},
		{[]string{"run", "--metric", "wal"}, []string{"wall"}},
		{[]string{"run", "--metric", "wall+al"}, []string{"wall+alloc", "wall+alignment-faults"}},
		{[]string{"run", "--metric", "wall+wal"}, nil},
		{[]string{"run", "--detail", ""}, []string{"auto", "timed", "all", "summary"}},
		{[]string{"run", "--overflow", ""}, []string{"block", "drop"}},
		{[]string{"run", "--switches", ""}, []string{"auto", "ebpf", "perf", "off"}},
		{[]string{"serve", "--log-level", "w"}, []string{"warn"}},
		{[]string{"report", session, "--figures", ""}, report.FigureNames},
		{[]string{"report", session, "--figures", "cdf,bot"}, []string{"cdf,bottle"}},
		{[]string{"report", session, "--figure-format", "p"}, []string{"png", "pdf"}},
		{[]string{"stats", session, "--threshold", "pinn"}, []string{"pinned="}},
		{[]string{"stats", ""}, []string{session, "other/"}},
		{[]string{"stats", "./"}, []string{"./" + session, "./other/"}},
		{[]string{"stats", "oth"}, []string{"other/"}},
		{[]string{"stats", "nowhere/"}, nil},
		{[]string{"stats", "."}, []string{".hidden/"}},
		{[]string{"doctor", ""}, nil},
		{[]string{"completion", "b"}, []string{"bash"}},
		{[]string{"versio"}, []string{"version"}},
	} {
		got, _ := offered(t, c.words...)
		typed := c.words[len(c.words)-1] // the shell drops what does not begin so
		got = slices.DeleteFunc(got, func(w string) bool { return !strings.HasPrefix(w, typed) })
		if !sameWords(got, c.want) {
			t.Errorf("%q: offers %q, want %q", c.words, got, c.want)
		}
	}
	if got, _ := offered(t, "stats", dir, "--metric", ""); !slices.Contains(got, "cpu") || !slices.Contains(got, "queue") {
		t.Errorf("--metric of a session: %q", got)
	}
	if _, d := offered(t, "tasks", session, "--output", ""); d&4 != 0 { // cobra.ShellCompDirectiveNoFileComp
		t.Errorf("-o must offer files: %d", d)
	}
}

func sameWords(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// TestCompletionScripts: the scripts are what their shells read. bash can check its own.
func TestCompletionScripts(t *testing.T) {
	for shell, want := range map[string]string{"bash": "__start_shadow", "zsh": "#compdef shadow", "fish": "complete -c shadow", "powershell": "Register-ArgumentCompleter"} {
		code, out, errs := shadow(t, nil, "completion", shell)
		if code != 0 || errs != "" || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s", shell, code, errs)
		}
		if bash, err := exec.LookPath("bash"); shell == "bash" && err == nil {
			cmd := exec.Command(bash, "-n")
			cmd.Stdin = strings.NewReader(out)
			if said, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("bash does not read it: %v: %s", err, said)
			}
		}
	}
}
