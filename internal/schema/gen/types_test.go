package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/schema"
)

// trialPlaces are the ways of a record: through the ring, a payload and a big table; in a list; in entries.
var trialPlaces = []string{"Submission", "Context", "VirtualThread"}

// declarations are the types that a declaration may name, with the type of its row ("": the same), the places that refuse
// it and what they say to use, two values, and the value of a ring full of ones.
var declarations = []struct {
	t, row    string
	refusals  map[string]string
	low, high string
	ones      string
}{
	{t: "bool", refusals: map[string]string{"Submission": "a bit of the flags", "VirtualThread": "a bit of the flags"}, low: "false", high: "true"},
	{t: "int8", refusals: map[string]string{"VirtualThread": "use int64"}, low: "-1<<7", high: "1<<7-1", ones: "-1"},
	{t: "int16", refusals: map[string]string{"VirtualThread": "use int64"}, low: "-1<<15", high: "1<<15-1", ones: "-1"},
	{t: "int32", refusals: map[string]string{"VirtualThread": "use int64"}, low: "-1<<31", high: "1<<31-1", ones: "-1"},
	{t: "int64", row: "units.Ns", low: "-1<<63", high: "1<<63-1", ones: "-1"},
	{t: "uint8", low: "1", high: "1<<8-1", ones: "1<<8-1"},
	{t: "uint16", low: "1", high: "1<<16-1", ones: "1<<16-1"},
	{t: "uint32", low: "1", high: "1<<32-1", ones: "1<<32-1"},
	{t: "uint64", low: "1", high: "1<<64-1", ones: "1<<64-1"},
	{t: "units.Ns", low: "-1<<63", high: "1<<63-1", ones: "-1"},
	{t: "units.Ticks", row: "units.Ns", low: "1", high: "1<<63-1", ones: "1<<64-1"},
	{t: "units.Kinds", row: "uint16", low: "1", high: "1<<8-1", ones: "1<<8-1"},
	{t: "SiteKind", row: "uint8", low: "1", high: "1<<8-1", ones: "1<<8-1"},
	{t: "SubmissionFlags", row: "uint32", low: "1", high: "1<<16-1", ones: "1<<16-1"},
	{t: "string", refusals: map[string]string{"Submission": "the number of a record in a list", "VirtualThread": "the number of a record in a list"}, low: `"a"`, high: `"b"`},
	{t: "[]uint32", refusals: map[string]string{"Submission": "use an integer", "VirtualThread": "use an integer"}, low: "[]uint32{1}", high: "[]uint32{1, 1<<32 - 1}"},
	{t: "float64", refusals: map[string]string{"Submission": "use an integer", "Context": "use an integer", "VirtualThread": "use an integer"}},
}

// field declares a field of that type; k makes its name, column and numbers its own.
func field(place, t, row string, k int) schema.Field {
	f := schema.Field{Name: fmt.Sprintf("Trial%d", k), Type: t, Doc: "a trial", Row: schema.Row{Type: row, Column: fmt.Sprintf("trial_%d", k)}}
	if t == "units.Ticks" && row != "" {
		f.Row.From = schema.Span
	}
	if place == "Submission" {
		f.Wire = schema.Column{Number: 15 + k, What: f.Name, LeftOut: true}
		f.Row.LeftOut, f.Row.Null = true, "none"
		if i, ok := integerOf(t); ok {
			f.Ring = schema.Slot{At: 64 + 8*k, Type: fmt.Sprintf("uint%d_t", i.bits), Name: fmt.Sprintf("trial%d", k)}
			if i.signed {
				f.Ring.Type = strings.TrimPrefix(f.Ring.Type, "u")
			}
		}
	}
	return f
}

// withFields are the records with fields more.
func withFields(more map[string][]schema.Field) []*schema.Record {
	list := slices.Clone(schema.Records)
	for i, r := range list {
		if len(more[r.Name]) > 0 {
			changed := *r
			changed.Fields = append(slices.Clone(r.Fields), more[r.Name]...)
			if r.Name == "Submission" {
				changed.Ring.Slots = 8
			}
			list[i] = &changed
		}
	}
	return list
}

// Every type works wherever it may be declared, or the generator says in a line what to use.
func TestEveryType(t *testing.T) {
	accepted := map[string][]schema.Field{}
	values := map[string][3][]string{} // by place, those of low, high and a full ring
	for k, d := range declarations {
		for _, place := range trialPlaces {
			f := field(place, d.t, d.row, k)
			err := check(withFields(map[string][]schema.Field{place: {f}}))
			if use := d.refusals[place]; use != "" {
				if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), place+"."+f.Name) || !strings.Contains(err.Error(), use) {
					t.Errorf("%s in %s: %v; want a line with %q", d.t, place, err, use)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", d.t, err)
				continue
			}
			accepted[place] = append(accepted[place], f)
			v := values[place]
			for i, value := range []string{d.low, d.high, d.ones} {
				v[i] = append(v[i], fmt.Sprintf("Trial%d: %s", k, value))
			}
			values[place] = v
		}
	}
	if !t.Failed() {
		runWith(t, withFields(accepted), values)
	}
}

// runWith generates the code for records and runs, over the tree, tests that every value comes back.
func runWith(t *testing.T, records []*schema.Record, values map[string][3][]string) {
	t.Helper()
	today := schema.Records
	schema.Records = records
	defer func() { schema.Records = today }()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(place, pkg, pointer string) string {
		v := values[place]
		return fmt.Sprintf("[]%s%s{{%s}, {}, {%s}}", pointer, pkg+place, strings.Join(v[0], ", "), strings.Join(v[1], ", "))
	}
	files["internal/wire/trial_test.go"] = []byte(`package wire

import "testing"

func TestTrial(t *testing.T) {
	b := empty()
	b.Submissions = ` + rows("Submission", "", "") + `
	b.Contexts.Contexts = ` + rows("Context", "", "") + `
	b.Virtual = ` + rows("VirtualThread", "", "") + `
	roundTrip(t, b)
	for i := range b.Submissions { // as an older agent sends them
		b.Submissions[i] = Submission{}
	}
	roundTrip(t, b)
}
`)
	files["agent/drain/trial_test.go"] = []byte(`package drain

import (
	"testing"

	"stackagent/internal/wire"
)

func TestTrial(t *testing.T) {
	var s [submissionBytes]byte
	for i := 64; i < len(s); i++ {
		s[i] = 0xff
	}
	if got, want := submissionOf(&s, 0), (wire.Submission{` + strings.Join(values["Submission"][2], ", ") + `}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
`)
	files["shadow/store/trial_test.go"] = []byte(`package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
)

func TestTrial(t *testing.T) {
	root := t.TempDir()
	w := openWriter(t, root)
	submissions := ` + rows("Submission", "", "") + `
	contexts := ` + rows("Context", "", "") + `
	virtual := ` + rows("VirtualThread", "", "") + `
	var old Submission // of a part without the columns
	for x, k := reflect.ValueOf(&old).Elem(), 0; k < x.NumField(); k++ {
		if ns, ok := x.Field(k).Addr().Interface().(*units.Ns); ok && strings.HasPrefix(x.Type().Field(k).Name, "Trial") {
			*ns = units.NotMeasured
		}
	}
	commit(t, w, &Part{Range: Range{1, 1}, Submissions: []Submission{old, old}})
	all := []Submission{old, old}
	for seq := range uint64(5) {
		all = append(all, submissions...)
		commit(t, w, &Part{Range: Range{seq + 2, seq + 2}, Submissions: submissions, Contexts: contexts, VirtualThreads: virtual})
	}
	for _, merged := range []bool{false, true} {
		if merged {
			mergeAll(t, w)
		}
		compare(t, w.Dir(), merged, all, contexts, virtual)
	}
}

func compare(t *testing.T, dir string, merged bool, all []Submission, contexts []Context, virtual []VirtualThread) {
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n := len(f.Parts(Submissions)); merged && n != 1 {
		t.Fatalf("%d parts after merging", n)
	}
	n := 0
	if _, err := f.ReadSubmissions(func(c *SubmissionColumns) error {
		for i := range c.Len() {
			got, want := reflect.ValueOf(c).Elem(), reflect.ValueOf(all[n])
			for k := range want.NumField() {
				name := want.Type().Field(k).Name
				if list := got.FieldByName(name); fmt.Sprint(list.Index(i)) != fmt.Sprint(want.Field(k)) {
					t.Errorf("row %d: %s is %v, want %v", n, name, list.Index(i), want.Field(k))
				}
			}
			n++
		}
		return nil
	}); err != nil || n != len(all) {
		t.Fatal(n, err)
	}
	var c []Context
	if _, err := f.ReadContexts(func(x *Context) { c = append(c, *x) }); err != nil || fmt.Sprint(c[len(c)-3:]) != fmt.Sprint(contexts) {
		t.Errorf("%v: %+v, want %+v", err, c, contexts)
	}
	var v []VirtualThread
	if _, err := f.ReadVirtualThreads(func(x *VirtualThread) { v = append(v, *x) }); err != nil || !slices.Equal(v[len(v)-3:], virtual) {
		t.Errorf("%v: %+v, want %+v", err, v, virtual)
	}
}
`)
	dir, replace := t.TempDir(), map[string]string{}
	for name, text := range files {
		path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, name)] = path
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	over := "-overlay=" + filepath.Join(dir, "overlay.json")
	for _, args := range [][]string{
		{"cc", "-fsyntax-only", "-x", "c", replace[filepath.Join(root, "jvmti/ring/record.h")]},
		{"go", "build", over, "./shadow/collect/ingest"},
		{"go", "test", over, "-vet=off", "-run=^TestTrial$", "./agent/drain", "./internal/wire", "./shadow/store"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		out, err := cmd.CombinedOutput()
		if err != nil || bytes.Contains(out, []byte("no tests to run")) {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
}
