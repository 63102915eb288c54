package part

import (
	"strings"
	"testing"

	"stackagent/scripts/bench/tool"
)

func TestParsePing(t *testing.T) {
	p, err := parsePing("1000 5000000 7000000 2000\n")
	if want := (ping{wall: 5000, cpu: 7000, perSecond: 400_000}); err != nil || p != want {
		t.Errorf("%+v, %v; want %+v", p, err, want)
	}
	for _, out := range []string{"", "1000", "0 1 1 1", "10 0 1 1", "a b c d"} {
		if _, err := parsePing(out); err == nil {
			t.Errorf("%q is taken", out)
		}
	}
}

func TestPingText(t *testing.T) {
	tools := []tool.Tool{{Name: "off"}, {Name: "ebpf"}}
	text := pingText(program{name: "ping"}, tools, [][]ping{{{5000, 6000, 400_000}}, {{6000, 7500, 333_000}}})
	for _, want := range []string{"5,000", "+20.0 %", "+25.0 %", "333,000"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
