package main

import (
	"path/filepath"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/page"
	"stackagent/shadow/show/view"
)

// page reports whether the output is a page.
func (f *diffFlags) page() bool {
	ext := strings.ToLower(filepath.Ext(f.output))
	return ext == ".html" || ext == ".htm"
}

// writePage writes the page of the first session of each side, with the comparison of all.
func (f *diffFlags) writePage(env console.Env, d *diff.Diff, first []string) error {
	noteMissing(env, d)
	report := reportFlags{output: f.output, filter: f.options.Filter, units: f.options.Units}
	var pages []*page.Data
	for _, dir := range first {
		s, err := env.Open(dir)
		if err != nil {
			return err
		}
		_, data, err := report.read(env, s)
		if err != nil {
			return err
		}
		pages = append(pages, data)
	}
	top := f.Top
	if top == 0 {
		top = view.DefaultTop
	}
	pages[0].Compared = comparedOf(d, d.Top(top))
	if err := writePage(f.output, pages...); err != nil {
		return err
	}
	return listed(env, []string{f.output})
}

// compare gives the page of two sessions what shadow diff says of them.
func (f *reportFlags) compare(env console.Env, to *page.Data, dirs []string) error {
	var runs []*diff.Run
	for _, dir := range dirs {
		s, err := env.Open(dir)
		if err != nil {
			return err
		}
		r, err := diff.Gather(s, summary.Options{Filter: f.filter, Units: f.units}, nil)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	d, err := diff.Compare(runs[:1], runs[1:], []diff.By{diff.Class, diff.Threads})
	if err != nil {
		return err
	}
	to.Compared = comparedOf(d, d.Top(view.DefaultTop))
	return nil
}

func comparedOf(d *diff.Diff, rows []*diff.Row) *page.Compared {
	c := &page.Compared{Sentence: d.Summary(), Cautions: d.Cautions, A: strings.Join(d.A.Sessions, ", "), B: strings.Join(d.B.Sessions, ", ")}
	for _, l := range diff.Lines(rows, true) {
		row := page.ComparedRow{By: string(l.By), Figure: l.Title, A: l.TextA(), B: l.TextB(), Change: units.FormatChange(l.Change.Mean), Interval: l.IntervalText(),
			Effect: l.EffectText(), Verdict: l.VerdictText(), Different: l.Verdict == diff.Different}
		if l.First {
			row.Name = l.Label()
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}
