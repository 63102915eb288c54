package measure

import (
	"context"
	"strings"
	"testing"
)

func TestBackground(t *testing.T) {
	ready := func(line string) bool { return strings.HasPrefix(line, "ready") }
	b, err := StartBackground(context.Background(), Command{Args: []string{"sh", "-c", `trap 'exit 0' INT; echo starting >&2; echo ready >&2; while :; do sleep 0.01; done`}}, ready)
	if err != nil {
		t.Fatal(err)
	}
	cpu, err := b.CPU()
	if err != nil || cpu <= 0 {
		t.Errorf("CPU time so far: %v, %v", cpu, err)
	}
	u, err := b.Stop()
	if err != nil || u.PeakBytes == 0 {
		t.Errorf("%+v, %v", u, err)
	}
	_, err = StartBackground(context.Background(), Command{Args: []string{"sh", "-c", "echo no room >&2; exit 4"}}, ready)
	if err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a process that ends at once: %v", err)
	}
}
