package testjvm

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The examples do without any agent what their oracles say: the slow ones, each on one JDK, as TestExamples of e2e compiles the
// others and runs them; in the full run all on every JDK, and those that are driven by tests of their own must compile.
func TestExamplesPlain(t *testing.T) {
	for _, o := range Oracles(t) {
		if !o.Slow && !full() {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			for _, jdk := range JDKsInTurn(t, o.MinJDK) {
				cmd := o.Command(t, jdk)
				if o.Manual {
					continue
				}
				res := cmd.Plain(t)
				if res.Exit != o.Exit {
					t.Errorf("%s: exit %d, want %d\n%s", jdk, res.Exit, o.Exit, res.Stderr)
				}
				if !o.Prints(res.Stdout) {
					t.Errorf("%s: stdout %q, want %q", jdk, res.Stdout, o.Stdout)
				}
			}
		})
	}
}

func TestCompare(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	o := Oracle{Classes: []Answer{
		{Class: "A", Created: n(2), Executions: n(3), NeverExecuted: n(1), Threw: n(1)},
		{Class: "L -> a$*", Executions: n(4)},
		{Class: "Absent", Executions: n(0)},
	}}
	rows := []Row{
		{Class: "A", Created: 2, Executions: 3, NeverExecuted: 1},
		{Class: "AB", Created: 7, Executions: 7},
		{Class: "L -> a$0", Executions: 1}, {Class: "L -> a$1", Executions: 3},
	}
	task := func(class, execution, threw string) map[string]string {
		return map[string]string{"class": class, "execution": execution, "threw": threw}
	}
	tasks := []map[string]string{
		task("A", "1", "true"), task("A", "2", "false"), task("A", "3", ""), task("A", "", ""),
		task("L -> a$0", "1", ""), task("L -> a$0", "1", ""), task("L -> a$1", "1", ""), task("L -> a$1", "1", ""),
	}
	if wrong := o.Compare(rows, tasks); wrong != nil {
		t.Errorf("equal, but reported: %q", wrong)
	}
	rows[0].Created++
	rows[3].Executions--
	tasks[0]["threw"] = ""
	rows = append(rows, Row{Class: "Absent", Executions: 1})
	want := "A: created 3, want 2; A: threw in the trace 0, want 1; L -> a$*: executions 3, want 4; Absent: executions 1, want 0"
	if got := strings.Join(o.Compare(rows, tasks), "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestReadOracleRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"misspelt":   `{"what":"x","classes":[{"class":"A","execution":1}]}`,
		"no classes": `{"what":"x"}`,
		"no json":    `what`,
	} {
		file := filepath.Join(t.TempDir(), "oracle.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readOracle(file); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestOpenRefusesWhatIsNoJDK(t *testing.T) {
	if _, err := open(t.TempDir()); err == nil {
		t.Error("an empty folder passes for a JDK")
	}
}

// TestMore: a run time is compiled for by the newest JDK, if that knows its release.
func TestMore(t *testing.T) {
	home := func(release string, javac bool) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "release"), []byte("JAVA_VERSION=\""+release+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if javac {
			if err := os.MkdirAll(filepath.Join(dir, "bin", "javac"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	found := []JDK{{Home: "/17", Version: 17, Compiler: "/17"}, {Home: "/25", Version: 25, Compiler: "/25"}}
	jdk, jre, known, young := home("23.0.1", true), home("21.0.8", false), home("17.0.1", false), home("26", false)
	got, err := more(slices.Clone(found), []string{jdk, jre, known})
	if err != nil || len(got) != 4 || got[1].Home != jre || got[2].Home != jdk {
		t.Fatalf("%+v, %v", got, err)
	}
	if want := []string{"/25/bin/javac", "--release", "21"}; !slices.Equal(got[1].javac(), want) {
		t.Errorf("%v, want %v", got[1].javac(), want)
	}
	if want := []string{filepath.Join(jdk, "bin", "javac")}; !slices.Equal(got[2].javac(), want) {
		t.Errorf("%v, want %v", got[2].javac(), want)
	}
	for _, dir := range []string{young, t.TempDir()} {
		if got, err := more(slices.Clone(found), []string{dir}); err == nil {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}
