package suite

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const full = `# a suite
programs:
  - name: lucene
    what: indexes and searches
    command: java -cp {folder}/lib/*:{folder}/classes Main {threads} {iterations} {size} {passes} {"a":1}
    prepare: prepare/jars.sh {name} {folder}
    size: 20000 20000
    small: "500 500"
    iterations: 5
    marker: 'output:^iteration \d+ took'
    requests: 'Main$Query'
    tasks: ["@kafka", 'com.acme.Main#run']
    words: {passes: 1}
    check: '^ok'
    jdk: 17-23
    licence: Apache-2.0
  - name: two
    command: ["my java", "a b", "{jvm}"]
`

func read(t *testing.T, content string) (*Suite, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "suite.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return Read(path)
}

func TestRead(t *testing.T) {
	s, err := read(t, full)
	if err != nil {
		t.Fatal(err)
	}
	p := s.Programs[0]
	for _, c := range []struct{ what, got, want string }{
		{"name", p.Name, "lucene"},
		{"what", p.What, "indexes and searches"},
		{"dir", p.Dir, filepath.Dir(s.Path)},
		{"command", strings.Join(p.Command, "|"), `java|-cp|{folder}/lib/*:{folder}/classes|Main|{threads}|{iterations}|{size}|{passes}|{"a":1}`},
		{"prepare", strings.Join(p.Prepare, "|"), "prepare/jars.sh|{name}|{folder}"},
		{"size", p.Size, "20000 20000"},
		{"small", p.Small, "500 500"},
		{"marker", string(p.Marker.Kind) + " " + p.Marker.Line.String(), `output ^iteration \d+ took`},
		{"requests", p.Requests, "Main$Query"},
		{"tasks", strings.Join(p.Tasks, "|"), "@kafka|com.acme.Main#run"},
		{"check", p.Check.String(), "^ok"},
		{"licence", p.Licence, "Apache-2.0"},
		{"second command", strings.Join(s.Programs[1].Command, "|"), "my java|a b|{jvm}"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, c.got, c.want)
		}
	}
	if p.Iterations != 5 || p.Words["passes"] != "1" || p.JDK != (JDKs{17, 23}) {
		t.Errorf("got %d iterations, words %v, JDKs %v", p.Iterations, p.Words, p.JDK)
	}
}

func TestReadRefuses(t *testing.T) {
	program := func(keys ...string) string {
		return "programs:\n  - name: a\n    command: java A\n    " + strings.Join(keys, "\n    ") + "\n"
	}
	for _, c := range []struct{ name, content, want string }{
		{"empty", "", "it is empty"},
		{"comment only", "# nothing\n", "it is empty"},
		{"null", "~\n", "line 1: a suite has keys"},
		{"no programs", "programs: []\n", "it has no programs"},
		{"not a list", "programs: {a: b}\n", "line 1: programs: needs a list"},
		{"two documents", "programs: []\n---\nprograms: []\n", "more than one document"},
		{"no YAML", "programs: [\n", "yaml: line"},
		{"unknown key of the suite", "program: []\n", `line 1: "program" is not a key of a suite (did you mean programs?)`},
		{"unknown key", program("check: a", "licens: MIT"), `line 5: "licens" is not a key of a program (did you mean licence?)`},
		{"key twice", program("size: 1", "size: 2"), "line 5: size: is there twice"},
		{"hostile key", program(`"a\u001b[31m": 1`), "is not a key of a program"},
		{"no name", "programs:\n  - command: java A\n", "line 2: a program without a name:"},
		{"bad name", "programs:\n  - name: ../a\n", `line 2: the name "../a"`},
		{"name twice", "programs:\n  - {name: a, command: b}\n  - {name: a, command: b}\n", `line 3: the program on line 2 is named "a", too`},
		{"no command", "programs:\n  - name: a\n", "line 2: a has no command:"},
		{"empty command", "programs:\n  - name: a\n    command: ''\n", "line 3: an empty command"},
		{"unknown word", "programs:\n  - name: a\n    command: java A {treads}\n", "line 3: command: unknown word {treads} (did you mean threads?)"},
		{"word in prepare", program("prepare: ./a.sh {threads}"), "line 4: prepare: unknown word {threads}"},
		{"word again", program("words: {size: 1}"), "line 4: there already is a word {size}"},
		{"word twice", program("words: {a: 1, a: 2}"), "line 4: there already is a word {a}"},
		{"word with capitals", program("words: {A: 1}"), `line 4: the word "A"`},
		{"iterations", program("iterations: many"), `line 4: "many": needs a number from 1 to 1000000`},
		{"no iterations", program("iterations: 0"), `line 4: "0": needs a number`},
		{"marker", program("marker: line:a"), `line 4: marker "line:a": use output:EXPRESSION or task:CLASS#METHOD`},
		{"marker expression", program("marker: 'output:('"), "line 4: error parsing regexp"},
		{"empty marker", program("marker: 'output:'"), "line 4: an empty expression"},
		{"marker task", program("marker: 'task:A'"), `line 4: task "A": `},
		{"tasks", program("tasks: a"), "line 4: needs a list"},
		{"task", program("tasks: [A]"), `line 4: task "A": `},
		{"check", program("check: '['"), "line 4: error parsing regexp"},
		{"jdk", program("jdk: new"), `line 4: jdk "new": use 17, 21- or 17-23`},
		{"jdk the wrong way round", program("jdk: 23-17"), "line 4: jdk 23-17: no version"},
		{"alias", "programs:\n  - name: &a b\n    command: *a\n", "line 3: aliases are not allowed"},
		{"merged keys", "programs:\n  - &a {name: b, command: c}\n  - <<: *a\n", `line 3: "<<" is not a key of a program`},
		{"map for text", program("size: {a: b}"), "line 4: needs a text"},
		{"null for text", program("size:"), "line 4: needs a text"},
		{"hidden characters", program(`what: "a\u202eb"`), "line 4: a text with line ends or hidden characters"},
		{"two lines", program(`what: "a\nb"`), "line 4: a text with line ends"},
		{"long text", program("what: " + strings.Repeat("a", maxValue+1)), "line 4: a text of more than 4096 bytes"},
		{"long list", program("tasks: [" + strings.Repeat("a, ", maxList) + "a]"), "line 4: a list of more than 256"},
		{"many programs", "programs:\n" + strings.Repeat(" - {name: a, command: b}\n", maxPrograms+1), "more than 1000 programs"},
		{"large", strings.Repeat("#\n", maxBytes), "larger than 1048576 bytes"},
		{"deep", "programs: " + strings.Repeat("[", 20_000), "yaml: "},
	} {
		s, err := read(t, c.content)
		if err == nil {
			t.Errorf("%s: read %+v, want an error with %q", c.name, s.Programs, c.want)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%s: got %q, want %q", c.name, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that does not exist is read")
	}
}

// Each key that is documented is read, with its example, and no other is.
func TestKeys(t *testing.T) {
	var b strings.Builder
	b.WriteString("programs:\n  -")
	for _, k := range Keys {
		fmt.Fprintf(&b, " %s: %s\n   ", k.Name, k.Example)
	}
	if _, err := read(t, b.String()); err != nil {
		t.Errorf("the documented keys are not read: %v\n%s", err, &b)
	}
	var p Program
	for name := range p.setters() {
		if !slices.ContainsFunc(Keys, func(k Key) bool { return k.Name == name }) {
			t.Errorf("%s: is not documented", name)
		}
	}
}

func TestArgv(t *testing.T) {
	s, err := read(t, full)
	if err != nil {
		t.Fatal(err)
	}
	p, other := s.Programs[0], s.Programs[1]
	values := Values{Folder: "/c d/{size}", Threads: 4}
	for _, c := range []struct {
		name    string
		p       Program
		v       func(Values) Values
		want    string
		wantErr string
	}{
		{"normal", p, func(v Values) Values { return v },
			`java|-cp|/c d/{size}/lib/*:/c d/{size}/classes|Main|4|5|20000|20000|1|{"a":1}`, ""},
		{"small", p, func(v Values) Values { v.Small, v.Iterations = true, 2; return v },
			`java|-cp|/c d/{size}/lib/*:/c d/{size}/classes|Main|4|2|500|500|1|{"a":1}`, ""},
		{"JVM", p, func(v Values) Values { v.Java, v.JVM = "/jdk/bin/java", []string{"-Xmx9m", "-Da=b c"}; return v },
			`/jdk/bin/java|-Xmx9m|-Da=b c|-cp|/c d/{size}/lib/*:/c d/{size}/classes|Main|4|5|20000|20000|1|{"a":1}`, ""},
		{"own word", p, func(v Values) Values { v.Words = map[string]string{"passes": "3 4"}; return v },
			`java|-cp|/c d/{size}/lib/*:/c d/{size}/classes|Main|4|5|20000|20000|3|4|{"a":1}`, ""},
		{"unknown word", p, func(v Values) Values { v.Words = map[string]string{"pases": "3"}; return v },
			"", "lucene has no word {pases} of its own (did you mean passes?)"},
		{"a common word is no own one", p, func(v Values) Values { v.Words = map[string]string{"size": "3"}; return v },
			"", "lucene has no word {size} of its own"},
		{"no threads", p, func(v Values) Values { v.Threads = 0; return v }, "", "lucene needs a number of threads"},
		{"a word where it is put", other, func(v Values) Values { v.Java, v.JVM = "x", []string{"-a b"}; return v }, "my java|a b|-a b", ""},
		{"an empty word", other, func(Values) Values { return Values{} }, "my java|a b", ""},
	} {
		argv, err := c.p.Argv(c.v(values))
		switch {
		case err == nil != (c.wantErr == ""), err != nil && !strings.Contains(err.Error(), c.wantErr):
			t.Errorf("%s: got error %v, want %q", c.name, err, c.wantErr)
		case strings.Join(argv, "|") != c.want:
			t.Errorf("%s: got  %q\nwant %q", c.name, argv, strings.Split(c.want, "|"))
		}
	}
	if !p.Uses("passes") || p.Uses("heap") {
		t.Error("Uses does not see which words the command has")
	}
}

// A word in another argument is put in as it is, and what a value says is not read as a word.
func TestArgvHeap(t *testing.T) {
	p := Program{Name: "a", Command: []string{"java", "-Xmx{heap}", "", "{folder}", "{size}"}, Size: "{threads}"}
	argv, err := p.Argv(Values{Heap: "256m", Folder: "/a b"})
	if want := []string{"java", "-Xmx256m", "", "/a b", "{threads}"}; err != nil || !slices.Equal(argv, want) {
		t.Errorf("got %q, %v; want %q", argv, err, want)
	}
}

func TestSelect(t *testing.T) {
	s := &Suite{Path: "p.yaml", Programs: []Program{{Name: "lucene"}, {Name: "h2"}, {Name: "pmd"}}}
	got, err := s.Select("pmd", "lucene")
	if err != nil || len(got) != 2 || got[0].Name != "pmd" || got[1].Name != "lucene" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := s.Select(); err != nil || len(got) != 3 {
		t.Errorf("without names: got %v, %v", got, err)
	}
	if _, err := s.Select("pmd", "lucen", "x"); err == nil ||
		!regexp.MustCompile(`no program "lucen" \(did you mean lucene\?\)\n.*no program "x"`).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		j       JDKs
		version int
		want    string
	}{
		{JDKs{}, 25, ""}, {JDKs{17, 23}, 17, ""}, {JDKs{17, 23}, 23, ""},
		{JDKs{17, 23}, 25, "needs JDK 23 or older"}, {JDKs{Min: 21}, 17, "needs JDK 21 or newer"}, {JDKs{Min: 21}, 25, ""},
	} {
		if got := c.j.Refuses(c.version); got != c.want {
			t.Errorf("%v on JDK %d: got %q, want %q", c.j, c.version, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(full))
	f.Add([]byte("programs:\n  - &a {name: b, command: c}\n  - *a\n"))
	f.Add([]byte("programs: [{name: a, command: [b, '{jvm}'], words: {x: ''}, jdk: 21-}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		programs, err := parse(data, "/d")
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Fatalf("the message has characters that act on a terminal: %q", err)
			}
			return
		}
		for _, p := range programs {
			if !nameSyntax.MatchString(p.Name) || len(p.Command) == 0 {
				t.Fatalf("read %+v", p)
			}
			argv, err := p.Argv(Values{Threads: 1, Folder: "/f"})
			if err != nil {
				t.Fatalf("no command of %+v: %v", p, err)
			}
			if len(argv) > 0 && len(argv) > len(p.Command)*maxValue {
				t.Fatalf("%d arguments", len(argv))
			}
		}
	})
}
