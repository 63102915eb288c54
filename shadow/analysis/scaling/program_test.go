package scaling

import (
	"strings"
	"testing"

	"stackagent/shadow/store"
)

func TestProgram(t *testing.T) {
	p, err := ProgramOf(made(t))
	if err != nil || p.Executions != 3+2 || len(p.Tasks) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	more, err := ProgramOf(madeWith(t, func(p *store.Part) {
		for range 200 {
			p.Executions = append(p.Executions, executed(3, 2, 1, 200, 210))
		}
	}))
	if err != nil || p.Unlike(more) != "" || !strings.Contains(p.OtherWork(more), "executes 205 of the program's tasks, the base 5") {
		t.Errorf("%+v, %v: %q", more, err, p.OtherWork(more))
	}
	for _, c := range []struct {
		a, b Program
		want string
	}{
		{Program{Main: "A"}, Program{Main: "A", Tasks: []string{"T"}}, ""},
		{Program{}, Program{Main: "A"}, ""},
		{Program{Main: "A", Tasks: []string{"T", "U"}}, Program{Main: "A", Tasks: []string{"U"}}, ""},
		{Program{Main: "A"}, Program{Main: "B"}, "A and B"},
		{Program{Main: "A", Tasks: []string{"T"}}, Program{Main: "A", Tasks: []string{"U"}}, "no class of tasks is in both, as T and U"},
	} {
		if got := c.a.Unlike(&c.b); got != c.want {
			t.Errorf("%+v and %+v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	for _, n := range []uint64{0, 990, 1000, 1099, 1400} {
		if why := (&Program{Executions: 1000}).OtherWork(&Program{Executions: n}); why != "" {
			t.Errorf("%d: %s", n, why)
		}
	}
}
