package part

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/tool"
)

// Three runs: medians and no intervals; a tool without a shadow leaves its cells empty.
func TestWholeTables(t *testing.T) {
	p := program{"small", "a small program", tool.Program{JDK: testjvm.JDK{Full: "25.0.1"}}}
	tools := []tool.Tool{{Name: "plain"}, {Name: "ours"}}
	runs := [][]wholeRun{
		{{wall: 1, cpu: 2, whole: 1}, {wall: 2, cpu: 2, whole: 2}, {wall: 3, cpu: 2, whole: 3}},
		{
			{wall: 1.1, cpu: 3, whole: 2, shadow: 0.5, shadowPeak: 3 << 20, executions: 7},
			{wall: 2.2, cpu: 3, whole: 3, shadow: 0.5, shadowPeak: 1 << 20, executions: 7},
			{wall: 3.3, cpu: 3, whole: 4, shadow: 0.7, shadowPeak: 2 << 20, executions: 1234, lost: 5},
		},
	}
	for name, c := range map[string]struct {
		got  string
		want []string
	}{
		"real": {realText(p, tools, runs), []string{
			"**small**: a small program.",
			"| plain |   2.00 |         |             2.00 |         |                |                 |            |      |",
			"| ours  |   2.20 | +10.0 % |             3.00 | +50.0 % |          0.500 |        3.00 MiB |      1,234 |    5 |",
		}},
		"start": {startText(p, tools, runs), []string{
			"**small**, JDK 25.0.1: a small program.",
			"| plain |  2,000 |          |             |                         |                    |",
			"| ours  |  2,200 |      200 |        1.10 |                   1,000 |              3,000 |",
		}},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, c.got)
			}
		}
	}
}

// A program that cannot be prepared is a line of the page; an interrupt is an error.
func TestWholeTextOfAFailure(t *testing.T) {
	c := Config{Log: io.Discard}
	broken := lazy{"broken", func() (program, error) { return program{}, errors.New("no network\nmore") }}
	got, err := c.wholeText(t.Context(), broken, nil, nil, 1, realText)
	if err != nil || got != "\n**broken** failed: no network\n" {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := c.wholeText(ctx, broken, nil, nil, 1, realText); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestDiffer(t *testing.T) {
	q := question{parse: parseHotspots}
	same := hotspotsJSON("A", `"metrics":{"wall_ns":`+figuresJSON+`}`)
	if err := differ(q, same, same); err != nil {
		t.Error(err)
	}
	for _, other := range []string{"", "[]", hotspotsJSON("B", `"metrics":{"wall_ns":`+figuresJSON+`}`)} {
		if differ(q, same, other) == nil || differ(q, other, same) == nil {
			t.Errorf("%q is the same", other)
		}
	}
}
