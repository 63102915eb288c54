package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/experiments"
	"stackagent/cmd/shadow/internal/fleet"
	"stackagent/cmd/shadow/internal/layers"
	"stackagent/cmd/shadow/internal/schemagen"
	"stackagent/cmd/shadow/internal/tgp"
	"stackagent/cmd/shadow/internal/times"
	"stackagent/docs/schema"
	"stackagent/granularity"
	"stackagent/granularity/lbo"
	"stackagent/hpc"
	"stackagent/internal/listing"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/budget"
	"stackagent/shadow/analysis/crosscheck"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/threads"
	traces "stackagent/shadow/exchange/tgp"
	"stackagent/shadow/experiment/characterize"
	"stackagent/shadow/experiment/heapsize"
	"stackagent/shadow/experiment/hypothesis"
	"stackagent/shadow/experiment/perturb"
	byfleet "stackagent/shadow/fleet"
	"stackagent/shadow/session"
	"stackagent/shadow/session/virtual"
	"stackagent/shadow/show/gccost"
	"stackagent/shadow/show/gcreport"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/view"
	"stackagent/shadow/show/warm"
)

// form is one form of what a verb prints.
type form struct {
	with  string                // the flags that it belongs to
	of    any                   // a value of the type
	rows  [][]listing.Described // or a list of rows with these columns
	extra string                // of rows: what columns with other names hold, numbers or null
}

func rows[R any](with string, lists ...[]listing.Column[R]) form {
	f := form{with: with}
	for _, l := range lists {
		f.rows = append(f.rows, listing.Describe(l))
	}
	return f
}

// printedForms are the forms of what each verb prints with --format json.
func printedForms() map[string][]form {
	s := &session.Session{}
	tasks := rows("", view.Tasks(s, true))
	tasks.extra = "a further metric of the session, such as alloc or an event of the kernel; docs/metrics.md has their units"
	inUnits := rows("--units", view.UnitsOfWork(s))
	inUnits.extra = tasks.extra
	paths := []form{rows("--by part", times.PartColumns(0))}
	for _, by := range []string{"class", "site", "thread", "kind"} {
		paths = append(paths, rows("--by "+by, times.PathColumns(by, 0)))
	}
	class := []form{{of: tgp.Classes{}}}
	return map[string][]form{
		"bottle":         {{of: times.BottleJSON{}}, {with: "of several sessions, iterations or parts", of: []times.BottleJSON{}}},
		"characterize":   {{of: &characterize.Set{}}},
		"check":          {{of: &budget.Report{}}},
		"diff":           {{of: diff.Diff{}}},
		"doctor":         {{of: []hpc.Facility{}}},
		"fleet findings": {rows("", byfleet.FindingColumns())},
		"fleet outliers": {rows("", byfleet.OutlierColumns())},
		"fleet retain":   {rows("", fleet.DeletionColumns())},
		"fleet top":      {rows("", byfleet.TopColumns(byfleet.Class, nil))},
		"fleet trends":   {rows("", byfleet.TrendColumns())},
		"fleet versions": {{of: byfleet.VersionDiff{}}},
		"gc":             {{of: gcreport.Report{}}},
		"heap":           {{of: heapsize.Row{}}, {with: "of several collectors or pointers", of: []heapsize.Row{}}},
		"hotspots":       {{of: []granularity.Hotspot{}}, rows("--by context", contextColumns(1))},
		"latency":        {{of: []times.LatencyRow{}}},
		"lbo":            {{of: lbo.Result{}}, {with: "of several programs, JDKs or sets of options", of: gccost.Several{}}},
		"licenses":       {rows("", licenceColumns)},
		"monitors":       {rows("", layers.MonitorColumns), rows("--not-available", layers.AbsentColumns)},
		"path":           paths,
		"scale":          {{of: experiments.StackJSON{}}},
		"sessions ls":    {rows("", view.Sessions(time.Time{}, nil))},
		"stack":          {{of: experiments.StackJSON{}}},
		"stats":          {{of: summary.Summary{}}, {with: "--check", of: crosscheck.Result{}}},
		"tasks":          {tasks, inUnits},
		"tgp coarse":     class,
		"tgp diagnose":   {{of: traces.Diagnosis{}}},
		"tgp fine":       class,
		"threads":        {rows("", threads.Columns(false)), {with: "--virtual", of: virtual.Threads{}}},
		"top":            {{of: live.JVM{}}, {with: "of several JVMs", of: live.Fleet{}}},
		"vertical": {{with: "", of: []explain.Phase{}}, {with: "--explain", of: explain.Explanation{}}, {with: "--correlate", of: layers.CorrelationRow{}}, {with: "--matrix", of: []layers.CorrelationRow{}},
			rows("--metrics", layers.LibraryColumns), rows("--samples", layers.SampleColumns), {with: "--hypothesis", of: hypothesis.Result{}}, rows("--validate", perturb.GroupColumns)},
		"waits":  {rows("", view.Waits(true), view.Waits(false)), rows("--by unit", view.UnitWaits(nil)), rows("--by thread", view.ThreadWaits(nil)), rows("--by wait", view.SingleWaits(s))},
		"warmup": {{of: warm.WarmupJSON{}}},
		"whatif": {{of: times.WhatifJSON{}}},
		"why":    {{of: answer{}}},
	}
}

// schemaOf makes the schema of a verb, and lists the fields that nothing describes.
func schemaOf(verb string, forms []form) (*jsonschema.Schema, []string, error) {
	among := advice.Evidences
	if verb != "stats" {
		among = nil // findings that others print do not have it
	}
	g := &schemagen.Generator{Source: sources, Unions: []schemagen.Union{{Of: reflect.TypeFor[advice.Evidence](), Among: among}}}
	top := &jsonschema.Schema{Schema: schemagen.Draft, Title: "shadow " + verb + " --format json"}
	for _, f := range forms {
		var s *jsonschema.Schema
		var err error
		if f.rows != nil {
			row, rowErr := g.Row(verb, f.rows...)
			if err = rowErr; err == nil && f.extra != "" {
				row.AdditionalProperties = &jsonschema.Schema{Types: []string{"number", "null"}, Description: f.extra}
			}
			s = &jsonschema.Schema{Type: "array", Items: row}
		} else {
			s, err = g.Of(reflect.TypeOf(f.of))
		}
		if err != nil {
			return nil, nil, err
		}
		if len(forms) > 1 || s.Ref == "" {
			s.Title = strings.TrimSpace("shadow " + verb + " " + f.with)
		}
		top.AnyOf = append(top.AnyOf, s)
	}
	top.Defs = g.Defs
	return top, g.Missing, nil
}

var sources = &schemagen.Source{Root: filepath.Join("..", ".."), Module: "stackagent"}

// TestSchemas fails if docs/schema is not what the code gives; with -update it writes it.
func TestSchemas(t *testing.T) {
	forms := printedForms()
	dir := filepath.Join("..", "..", "docs", "schema")
	verbs := withJSON(newRoot(console.System()))
	for verb := range forms {
		if !slices.Contains(verbs, verb) {
			t.Errorf("%s prints no JSON", verb)
		}
	}
	files := map[string]bool{}
	for _, verb := range verbs {
		if forms[verb] == nil {
			t.Errorf("%s has no schema: add what it prints to printedForms", verb)
			continue
		}
		s, missing, err := schemaOf(verb, forms[verb])
		if err != nil {
			t.Errorf("%s: %v", verb, err)
			continue
		}
		for _, m := range missing {
			t.Errorf("%s: %s has no description: a comment at the field, or the documentation of the column, is one", verb, m)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, schema.File(verb))
		files[path] = true
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b.Bytes()) {
			t.Errorf("%s is stale (%v); run: go test ./cmd/shadow -run Schemas -update", path, err)
		}
	}
	found, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, path := range found {
		if !files[path] {
			t.Errorf("%s is of no verb", path)
		}
	}
}
