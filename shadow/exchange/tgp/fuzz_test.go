package tgp

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// FuzzTasks: whatever is read is rejected with a position, or can be analysed,
// written and read again as it was.
func FuzzTasks(f *testing.F) {
	f.Add([]byte(traceText))
	f.Add([]byte(traceText[:len(traceText)/2]))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := ReadTasks(bytes.NewReader(data), TasksFile, 1000)
		if err != nil {
			var format *FormatError
			if !errors.As(err, &format) && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("an error without a position: %v", err)
			}
			return
		}
		again, err := ReadTasks(bytes.NewReader([]byte(writeTrace(t, tr))), TasksFile, 0)
		if err != nil || len(again.Tasks) != len(tr.Tasks) {
			t.Fatalf("written and not read again: %v", err)
		}
		for i := range tr.Tasks {
			a, b := tr.Tasks[i], again.Tasks[i]
			a.Class, a.Creator, a.Runner, a.Executor = b.Class, b.Creator, b.Runner, b.Executor
			if a != b {
				t.Fatalf("%+v became %+v", tr.Tasks[i], b)
			}
		}
		if a, err := Aggregate(tr); err == nil {
			total := int64(len(a.Tasks)) + a.NotExecuted
			for _, n := range a.Merged {
				total += n
			}
			if total != int64(len(tr.Tasks)) {
				t.Fatalf("%d rows of %d after aggregation", total, len(tr.Tasks))
			}
		}
		b := &builder{in: Input{Trace: tr}}
		b.link()
		for _, i := range b.order {
			b.execution(i, true)
		}
	})
}

// FuzzSamples: what can be read can be written and read again.
func FuzzSamples(f *testing.F) {
	f.Add([]byte("Timestamp (ns),Context Switches\n1,2\n"))
	f.Add([]byte("Timestamp (ns),CPU utilization (user),CPU utilization (kernel)\n5,50.0,8.3\n"))
	f.Add([]byte("Start GC,10\nEnd GC,20\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var b bytes.Buffer
		if cs, err := ReadSwitches(bytes.NewReader(data), CSFile); err == nil {
			if err := WriteSwitches(&b, cs); err != nil {
				t.Fatal(err)
			}
			if again, err := ReadSwitches(&b, CSFile); err != nil || !reflect.DeepEqual(cs, again) {
				t.Fatalf("%v became %v: %v", cs, again, err)
			}
		}
		_, _ = ReadCPU(bytes.NewReader(data), CPUFile)
		if gc, err := ReadGC(bytes.NewReader(data), GCFile); err == nil {
			b.Reset()
			if err := WriteGC(&b, gc); err != nil {
				t.Fatal(err)
			}
			if again, err := ReadGC(&b, GCFile); err != nil || !reflect.DeepEqual(gc, again) {
				t.Fatalf("%v became %v: %v", gc, again, err)
			}
		}
	})
}
