package main

import (
	"os"
	"path/filepath"
	"testing"

	"stackagent/cmd/shadow/internal/times"
	"stackagent/internal/listing"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/analysis/threads"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/heapsize"
	"stackagent/shadow/session"
	"stackagent/shadow/show/gccost"
	"stackagent/shadow/show/view"
)

// updateColumns makes TestColumnsPage write the page.
const updateColumns = "SHADOW_UPDATE_COLUMNS"

// TestColumnsPage fails if docs/columns.md is not what the listings' columns give.
func TestColumnsPage(t *testing.T) {
	s := &session.Session{}
	want := "# Columns of the listings\n\nGenerated from the columns that the code declares: " + updateColumns + "=1 go test ./cmd/shadow -run ColumnsPage.\n" +
		"Times are CLOCK_MONOTONIC nanoseconds. *Empty* cells are `null` in JSON and Parquet.\n" +
		"\n## shadow tasks\n\n" + listing.Markdown(view.Tasks(s, true)) +
		"\n## shadow tasks --units\n\n" + listing.Markdown(view.UnitsOfWork(s)) +
		"\n## shadow threads\n\n" + listing.Markdown(threads.Columns(false)) +
		"\n## shadow threads --virtual\n\n" + listing.Markdown(threads.VirtualColumns) +
		"\n## shadow waits\n\n" + listing.Markdown(view.Waits(true)) +
		"\n## shadow waits --by unit\n\n" + listing.Markdown(view.UnitWaits(nil)) +
		"\n## shadow waits --by thread\n\n" + listing.Markdown(view.ThreadWaits(nil)) +
		"\n## shadow waits --by wait\n\n" + listing.Markdown(view.SingleWaits(s)) +
		"\n## shadow path\n\n" + listing.Markdown(times.PathColumns("class", 0)) +
		"\n## shadow path --by part\n\n" + listing.Markdown(times.PartColumns(0)) +
		"\n## shadow diff\n\n" + listing.Markdown(diff.Columns(true)) +
		"\n## shadow characterize\n\n" + listing.Markdown((&view.Statistics{}).Columns()) +
		"\n## shadow characterize --components\n\n" + listing.Markdown(view.ComponentColumns()) +
		"\n## shadow heap\n\n" + listing.Markdown(heapsize.Columns) +
		"\n## shadow lbo\n\n" + listing.Markdown(gccost.Columns(true)) +
		"\n## results.parquet of an experiment\n\nBefore these, a column for each factor.\n\n" + listing.Markdown(experiment.Columns())
	page := filepath.Join("..", "..", "docs", "columns.md")
	if os.Getenv(updateColumns) != "" {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil || string(got) != want {
		t.Errorf("%s is stale (%v); run: %s=1 go test ./cmd/shadow -run ColumnsPage", page, err, updateColumns)
	}
}
