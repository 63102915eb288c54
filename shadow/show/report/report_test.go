package report

import (
	"errors"
	"path/filepath"
	"testing"

	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
)

func build(t *testing.T, src summary.Source) *summary.Summary {
	t.Helper()
	s, err := summary.BuildFrom(src, summary.Options{Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestFigures(t *testing.T) {
	s := build(t, summarytest.Program())
	if _, err := Figures(s, []string{"cdf", "nonsense"}); !errors.Is(err, ErrUnknownFigure) {
		t.Errorf("unknown figure: %v", err)
	}
	plain, err := summary.BuildFrom(summarytest.Program(), summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Figures(plain, nil); !errors.Is(err, ErrNoShapes) {
		t.Errorf("no shapes: %v", err)
	}
	files, err := WriteFigures(t.TempDir(), s, nil, nil)
	if err != nil || len(files) != len(FigureNames) {
		t.Fatalf("wrote %v: %v", files, err)
	}
	for i, f := range files {
		if filepath.Base(f) != FigureNames[i]+".svg" {
			t.Errorf("file %s for figure %s", f, FigureNames[i])
		}
	}
}
