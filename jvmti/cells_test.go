package jvmti_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

func compileCells(t *testing.T, flags ...string) string {
	t.Helper()
	return compile(t, flags, "testdata/cells_main.c", "state_cells.c", "drain_cells.c")
}

// TestCells compares cells with a reference that keeps every execution, also while a drain reads the cells.
func TestCells(t *testing.T) {
	for name, flags := range map[string][]string{
		"plain":   {"-O2"},
		"thread":  {"-O1", "-fsanitize=thread"},
		"address": checked,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, compileCells(t, flags...))
		})
	}
}

// The C side counts in the buckets of package histogram.
func TestBuckets(t *testing.T) {
	values := []uint64{0, 1<<64 - 1}
	for i := range histogram.Buckets {
		lowest, highest := histogram.Bounds(i)
		values = append(values, lowest, highest)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 100000 {
		values = append(values, r.Uint64()>>r.IntN(64))
	}
	var in, want bytes.Buffer
	for _, v := range values {
		fmt.Fprintln(&in, v)
		fmt.Fprintln(&want, histogram.Index(v))
	}
	cmd := exec.Command(compileCells(t, "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"), "index")
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(out, want.Bytes()) {
		return
	}
	got := strings.Fields(string(out))
	for i, w := range strings.Fields(want.String()) {
		if i >= len(got) || got[i] != w {
			t.Fatalf("%d: bucket %v, want %s", values[i], got[min(i, len(got)):min(i+1, len(got))], w)
		}
	}
}

// The codec takes every report that the C side makes, whatever a thread has counted, sampled or not.
func TestReportsEncode(t *testing.T) {
	program := compileCells(t, "-O2")
	for seed := range 5 {
		out, err := exec.Command(program, "reports", fmt.Sprint(seed)).Output()
		if err != nil {
			t.Fatal(err)
		}
		words := make([]uint64, len(out)/8)
		for i := range words {
			words[i] = binary.NativeEndian.Uint64(out[8*i:])
		}
		n := 0
		for ; len(words) > 0; n++ {
			encodeReport(t, words[:words[0]])
			words = words[words[0]:]
		}
		if n < 500 {
			t.Errorf("seed %d: %d reports", seed, n)
		}
	}
}

func encodeReport(t *testing.T, words []uint64) {
	t.Helper()
	want := jvmti.DecodeSummary(words)
	msg, err := wire.Encode(&wire.Batch{Session: "s", Seq: 1, Summaries: []wire.Summary{want}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := wire.Decode(msg, wire.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if got := b.Summaries[0]; got.Executions != want.Executions || len(got.Measures) != len(want.Measures) {
		t.Fatalf("%+v became %+v", want, got)
	}
	for _, m := range b.Summaries[0].Measures {
		if m.Count != want.Executions {
			t.Fatalf("metric %d of %d executions, not of %d", m.Metric, m.Count, want.Executions)
		}
	}
}
