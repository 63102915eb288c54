package testjvm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Oracle is the known answer of an example program (examples/README.md).
type Oracle struct {
	Name   string   `json:"-"` // the example's folder
	Dir    string   `json:"-"`
	What   string   `json:"what"`
	MinJDK int      `json:"min_jdk"`
	VM     []string `json:"vm"`
	Args   []string `json:"args"`
	Agent  []string `json:"agent"`
	Exit   int      `json:"exit"`
	Stdout []string `json:"stdout"` // nil: varies from run to run
	Slow   bool     `json:"slow"`
	Manual bool     `json:"manual"`
	// EndOfStack: tasks run on the last bytes of a stack, where executions are
	// counted as lost instead of recorded.
	EndOfStack bool     `json:"end_of_stack"`
	Classes    []Answer `json:"classes"`
}

// Answer is what is known about the classes that match a pattern; nil: not known.
type Answer struct {
	Class         string `json:"class"`
	Created       *int64 `json:"created"`
	Executions    *int64 `json:"executions"`
	NeverExecuted *int64 `json:"never_executed"`
	Threw         *int64 `json:"threw"`
}

// Oracles reads examples/*/oracle.json.
func Oracles(t testing.TB) []Oracle {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(Root(t), "examples", "*", "oracle.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no oracles found under examples: %v", err)
	}
	oracles := make([]Oracle, 0, len(files))
	for _, file := range files {
		o, err := readOracle(file)
		if err != nil {
			t.Fatal(err)
		}
		oracles = append(oracles, o)
	}
	return oracles
}

// Example is the oracle of one example.
func Example(t testing.TB, name string) Oracle {
	t.Helper()
	o, err := readOracle(filepath.Join(Root(t), "examples", name, "oracle.json"))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func readOracle(file string) (Oracle, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return Oracle{}, fmt.Errorf("reading an oracle: %w", err)
	}
	dir := filepath.Dir(file)
	o := Oracle{Dir: dir, Name: filepath.Base(dir), MinJDK: 17}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields() // a misspelt field would compare nothing
	if err := dec.Decode(&o); err != nil {
		return Oracle{}, fmt.Errorf("%s: %w", file, err)
	}
	if len(o.Classes) == 0 {
		return Oracle{}, fmt.Errorf("%s: no classes, nothing to compare", file)
	}
	return o, nil
}

// Command runs the example on jdk.
func (o Oracle) Command(t testing.TB, jdk JDK, vm ...string) Command {
	t.Helper()
	return Command{
		JDK: jdk, VM: append(append([]string{}, o.VM...), vm...), Main: "Main", Args: o.Args,
		Classpath: Compile(t, jdk, o.Dir), Agent: o.Agent,
	}
}

// Prints reports whether stdout is what the example prints; true of one whose output varies.
func (o Oracle) Prints(stdout string) bool {
	return o.Stdout == nil || stdout == strings.Join(o.Stdout, "\n")+"\n"
}

// Compare lists in what rows (and, where not nil, the raw trace) differ from
// the oracle.
func (o Oracle) Compare(rows []Row, tasks []map[string]string) []string {
	var wrong []string
	for _, a := range o.Classes {
		match := glob(a.Class)
		var got Row
		for _, r := range rows {
			if match(r.Class) {
				got.Created += r.Created
				got.Executions += r.Executions
				got.NeverExecuted += r.NeverExecuted
			}
		}
		check := func(what string, want *int64, have int64) {
			if want != nil && *want != have {
				wrong = append(wrong, fmt.Sprintf("%s: %s %d, want %d", a.Class, what, have, *want))
			}
		}
		check("created", a.Created, got.Created)
		check("executions", a.Executions, got.Executions)
		check("never executed", a.NeverExecuted, got.NeverExecuted)
		if tasks == nil {
			continue
		}
		executions, never, threw := countTasks(tasks, match)
		check("executions in the trace", a.Executions, executions)
		check("never executed in the trace", a.NeverExecuted, never)
		check("threw in the trace", a.Threw, threw)
	}
	return wrong
}

// countTasks counts the rows of the trace whose class matches: executions,
// tasks never executed, executions that threw.
func countTasks(tasks []map[string]string, match func(string) bool) (executions, never, threw int64) {
	for _, row := range tasks {
		if !match(row["class"]) {
			continue
		}
		if row["execution"] == "" || row["execution"] == "0" {
			never++
			continue
		}
		executions++
		if row["threw"] == "true" || row["threw"] == "1" {
			threw++
		}
	}
	return executions, never, threw
}

// glob compiles a pattern in which * stands for any text.
func glob(pattern string) func(string) bool {
	parts := strings.Split(pattern, "*")
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$").MatchString
}
