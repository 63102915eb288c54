package deopt

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Lines that JDK 25 wrote.
const written = `[24753096941871ns] cid=  16     level=4 Deopt.loop(LDeopt$S;I)D trap_bci=8 predicate maybe_recompile pc=0x00007f54bbec8914 relative_pc=0x0000000000000374
[24753099403894ns] cid=  15 osr level=4 Deopt.loop(LDeopt$S;I)D trap_bci=5 osr_bci=5 profile_predicate maybe_recompile pc=0x00007f54bbec837c relative_pc=0x00000000000000dc
`

func logOf(t *testing.T, text, older string) *File {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if older != "" {
		if err := os.WriteFile(log+".0", []byte(older), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ReadLog(log)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestReadLog(t *testing.T) {
	f := logOf(t, written, "")
	want := []Event{{24753096941871, "Deopt.loop(LDeopt$S;I)D", "predicate"}, {24753099403894, "Deopt.loop(LDeopt$S;I)D", "profile_predicate"}}
	if !reflect.DeepEqual(f.Events, want) || f.From != 0 || f.Unread != 0 || f.Dropped != 0 {
		t.Errorf("%+v, want %+v", f, want)
	}
	older := "[5ns] cid=1 level=3 A.b()V trap_bci=1 unstable_if none pc=0x1\n"
	if f := logOf(t, written, older); f.From != 5 || len(f.Events) != 3 || f.Events[0].Method != "A.b()V" {
		t.Errorf("with an older file: %+v", f)
	}
	odd := strings.Join([]string{"", "x", "[ns] cid=1 level=3 A", "[-1ns] cid=1 level=3 A", "[7ns] other", "[7ns] cid=1 level=4", "7ns] cid=1 level=4 A",
		"[7ns] cid=1 level=4 " + strings.Repeat("n", maxLine), "[8ns] cid=1 level=4 \xff\x1b[31mA trap_bci=1 why"}, "\n")
	if f := logOf(t, odd, ""); f.Unread != 8 || len(f.Events) != 1 || f.Events[0] != (Event{8, "?\x1b[31mA", "why"}) {
		t.Errorf("odd lines: %+v", f)
	}
	if f := logOf(t, "[8ns] cid=1 level=4 A\n[9ns] cid=1 level=4 A trap_bci=3\n", ""); len(f.Events) != 2 || f.Events[0].Reason != "" || f.Events[1].Reason != "" {
		t.Errorf("without a reason: %+v", f)
	}
	if f := logOf(t, strings.Repeat("[8ns] cid=1 level=4 A\n", Max+3), ""); len(f.Events) != Max || f.Dropped != 3 {
		t.Errorf("%d events, %d dropped", len(f.Events), f.Dropped)
	}
	if _, err := ReadLog(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a log that is missing is read")
	}
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	if f, err := Read(dir); f != nil || err != nil {
		t.Errorf("no file: %v, %v", f, err)
	}
	f := logOf(t, written, "")
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(dir); err != nil || !reflect.DeepEqual(got, f) {
		t.Errorf("%+v, %v, want %+v", got, err, f)
	}
	for text, want := range map[string]string{"{": "unexpected end", `{"version":2}`: "use the version", `{"version":1,"deopts":[{"at_ns":-1}]}`: "number 1",
		`{"version":1,"deopts":[{"method":"` + strings.Repeat("m", maxName+1) + `"}]}`: "number 1"} {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.50s: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"deopts":[{"at_ns":5,"method":"A.b()V","reason":"x"}],"dropped":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parse(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(again); err != nil {
			t.Fatalf("does not read what it would write: %v", err)
		}
	})
}

func FuzzLine(f *testing.F) {
	for _, line := range strings.Split(written, "\n") {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		e, ok := parseLine(line)
		if !ok {
			return
		}
		file := &File{Version: FileVersion, Events: []Event{e}}
		b, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parse(b); err != nil || got.Events[0] != e {
			t.Errorf("%+v becomes %+v, %v", e, got, err)
		}
	})
}
