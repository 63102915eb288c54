package jvmti_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms are the prefixes of the C files' names, from the innermost room to the outermost (agent.h).
var rooms = []string{"state", "class", "probe", "drain", "life"}

var (
	noCode   = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*|"(\\.|[^"\\\n])*"`)
	includes = regexp.MustCompile(`(?m)^#include "([\w/]+\.h)"`)
	function = regexp.MustCompile(`(?m)^[A-Za-z_][^\n;={}]*\b(\w+)\(`)
	name     = regexp.MustCompile(`\b[a-z]\w*\b`)
)

// source is a C file or header: the functions that it defines, by name.
type source struct {
	includes []string
	bodies   map[string]string
}

// parseC reads the functions of a file, without comments and strings.
func parseC(text string) source {
	s := source{bodies: map[string]string{}}
	for _, m := range includes.FindAllStringSubmatch(text, -1) {
		s.includes = append(s.includes, m[1])
	}
	text = noCode.ReplaceAllString(text, "")
	for _, m := range function.FindAllStringSubmatchIndex(text, -1) {
		end := m[1] + closing(text[m[1]:], '(', ')')
		body := strings.TrimLeft(text[end:], " \n")
		if strings.HasPrefix(body, "{") {
			s.bodies[text[m[2]:m[3]]] = body[:1+closing(body[1:], '{', '}')]
		}
	}
	return s
}

// closing is where what is open at the start of text is closed.
func closing(text string, open, shut rune) int {
	depth := 1
	for i, c := range text {
		switch c {
		case open:
			depth++
		case shut:
			depth--
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// callGraph is which C file calls functions of which others. What a header's inline function calls, its callers call.
type callGraph map[string]map[string][]string

func readCalls(sources map[string]source) (graph callGraph, functions int) {
	owner := map[string]string{}
	for file, s := range sources {
		for f := range s.bodies {
			if strings.HasSuffix(file, ".c") && strings.HasPrefix(f, "sa_") {
				owner[f] = file
			}
		}
	}
	graph = callGraph{}
	for file, s := range sources {
		if strings.HasSuffix(file, ".c") {
			graph[file] = map[string][]string{}
			for _, f := range called(s, inlineOf(sources, s)) {
				if to := owner[f]; to != "" && to != file {
					graph[file][to] = append(graph[file][to], f)
				}
			}
		}
	}
	return graph, len(owner)
}

// inlineOf are the bodies of the inline functions in the headers that s includes, directly or not.
func inlineOf(sources map[string]source, s source) map[string]string {
	bodies, seen := map[string]string{}, map[string]bool{}
	for left := s.includes; len(left) > 0; left = left[1:] {
		if !seen[left[0]] {
			seen[left[0]] = true
			maps.Copy(bodies, sources[left[0]].bodies)
			left = append(left, sources[left[0]].includes...)
		}
	}
	return bodies
}

// called are the names in the bodies of s, and in those of the inline functions that it uses.
func called(s source, inline map[string]string) []string {
	seen := map[string]bool{}
	left := slices.Collect(maps.Values(s.bodies))
	for ; len(left) > 0; left = left[1:] {
		for _, n := range name.FindAllString(left[0], -1) {
			if body, ok := inline[n]; ok && !seen[n] {
				left = append(left, body)
			}
			seen[n] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// circle returns files that call each other in a circle, nil: there are none.
func (g callGraph) circle() []string {
	done := map[string]bool{}
	var path []string
	var visit func(file string) []string
	visit = func(file string) []string {
		if i := slices.Index(path, file); i >= 0 {
			return append(slices.Clone(path[i:]), file)
		}
		if done[file] {
			return nil
		}
		done[file] = true
		path = append(path, file)
		for _, to := range slices.Sorted(maps.Keys(g[file])) {
			if c := visit(to); c != nil {
				return c
			}
		}
		path = path[:len(path)-1]
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(g)) {
		if c := visit(file); c != nil {
			return c
		}
	}
	return nil
}

// outward are the calls from a room to one further out.
func (g callGraph) outward() []string {
	var list []string
	for from, calls := range g {
		level := roomOf(from)
		for to, functions := range calls {
			if level < roomOf(to) {
				list = append(list, fmt.Sprintf("%s calls %s of %s", from, strings.Join(functions, ", "), to))
			}
		}
	}
	slices.Sort(list)
	return list
}

// roomOf is the index in rooms, -1: the name says none.
func roomOf(file string) int {
	room, _, _ := strings.Cut(file, "_")
	return slices.Index(rooms, room)
}

func readSources(t *testing.T) map[string]source {
	t.Helper()
	sources := map[string]source{}
	for _, pattern := range []string{"*.h", "*.c"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) < 10 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sources[file] = parseC(string(text))
		}
	}
	return sources
}

// TestCallsHaveNoCircles: no C file calls a file that calls it, directly or not, and no room calls one further out.
func TestCallsHaveNoCircles(t *testing.T) {
	graph, functions := readCalls(readSources(t))
	if functions < 200 {
		t.Fatalf("only %d functions found in %d files", functions, len(graph))
	}
	if c := graph.circle(); c != nil {
		var why []string
		for i := range c[1:] {
			why = append(why, fmt.Sprintf("%s calls %s of %s", c[i], strings.Join(graph[c[i]][c[i+1]], ", "), c[i+1]))
		}
		t.Errorf("files call each other in a circle:\n%s", strings.Join(why, "\n"))
	}
	for _, call := range graph.outward() {
		t.Errorf("a call to a room further out: %s", call)
	}
	for file := range graph {
		if roomOf(file) < 0 {
			t.Errorf("%s: the name does not say which room it is in (%s)", file, strings.Join(rooms, ", "))
		}
	}
}

// The test finds what it looks for.
func TestCallsAreFound(t *testing.T) {
	graph, functions := readCalls(map[string]source{
		"state_a.h": parseC("int sa_b(int x);\nstatic inline bool via(int x) {\n    return sa_b(x) > 0;\n}\n"),
		"state_a.c": parseC("#include \"state_a.h\"\nbool sa_a(int x) {\n    return via(\"sa_c(\");\n}\n"),
		"state_b.c": parseC("__attribute__((noinline, cold)) int sa_b(const char *s,\n         int n) { return 0; }\nvoid f(void) { sa_c(); }\n"),
		"probe_c.c": parseC("int via;\nJNIEXPORT void JNICALL sa_c(void) { if (via) { sa_a(1); } }\n"),
	})
	if functions != 3 {
		t.Errorf("%d functions of 3 found", functions)
	}
	if got := strings.Join(graph.circle(), " "); got != "probe_c.c state_a.c state_b.c probe_c.c" {
		t.Errorf("circle %q", got)
	}
	if got := strings.Join(graph.outward(), "; "); got != "state_b.c calls sa_c of probe_c.c" {
		t.Errorf("calls further out: %s", got)
	}
}
