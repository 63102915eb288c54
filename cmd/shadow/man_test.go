package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
)

// TestManPages: there is a page for each command, none with a name of the system's, and each names the command's
// flags and its examples. Where groff is installed, it finds nothing wrong in them.
func TestManPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	if code, out, errs := shadow(t, nil, "man", dir); code != 0 || out+errs != "" {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		want++
		data, err := os.ReadFile(filepath.Join(dir, "stackagent-"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if err != nil {
			t.Error(err)
			return
		}
		plain := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(string(data))
		for _, part := range []string{cmd.Short, cmd.UseLine(), cmd.Example, ".SH EXIT STATUS"} {
			if !strings.Contains(plain, part) {
				t.Errorf("%s lacks %q", cmd.CommandPath(), part)
			}
		}
		for _, line := range strings.Split(string(data), "\n") {
			if strings.HasPrefix(line, "'") {
				t.Errorf("%s: roff takes this for a request: %q", cmd.CommandPath(), line)
			}
		}
		for _, sub := range documented(cmd) {
			check(sub)
		}
	}
	root := newRoot(console.Env{})
	check(root)
	if len(pages) != want || want < 25 {
		t.Errorf("%d pages for %d commands", len(pages), want)
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		return
	}
	for _, page := range pages {
		if said, err := exec.Command(groff, "-man", "-Tutf8", "-ww", "-z", page).CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v: %s", page, err, said)
		}
	}
}

// TestRoff: nothing of a text is taken for a request.
func TestRoff(t *testing.T) {
	for in, want := range map[string]string{
		"a-b":         `a\-b`,
		".TH x\n'y":   `\&.TH x` + "\n" + `\&'y`,
		`C:\x`:        `C:\ex`,
		"a .b 'c'":    "a .b 'c'",
		"\\fBbold\\n": `\efBbold\en`,
	} {
		if got := roff(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
