package wire

import (
	"strings"
	"testing"
)

// TestNamesRoundTrip: names are the program's and arrive as they are, whatever is in them.
func TestNamesRoundTrip(t *testing.T) {
	for _, name := range []string{"@kafka", "com.acme.Job#process(Lcom/acme/Ctx;)V", "<script>alert(1)</script>", "a\x00b\x1b[31m\r\n\u202e", strings.Repeat("é", 1000)} {
		for _, extra := range [][]Extra{nil, {{Name: "alloc", Unit: "bytes", How: "thread-local buffer"}}} {
			b := full()
			b.Hello.Extra, b.Hello.Tasks = extra, []string{name, name + "x"}
			b.Classes = append(b.Classes, Class{ID: 77, Name: name, Looped: true, LoopCall: name})
			b.Executors = []Executor{{ID: 1, Class: name, Name: name, MadeIn: name, File: name, Line: 7}}
			b.Sites = []Site{{ID: 2, Class: name, Method: name, File: name, Line: 42, Calls: name, Function: name}}
			roundTrip(t, b)
		}
	}
}
