package instrument

import (
	"bytes"
	"syscall"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/internal/settings"
	"stackagent/internal/testjvm"
)

// benchStep is N: every Nth class of the JDK is woven.
const benchStep = 40

// BenchmarkJDK weaves classes of the JDK as a JVM asks for them, including those that need nothing: as platform classes
// and as the program's, with and without counts of instructions.
func BenchmarkJDK(b *testing.B) {
	jdks := testjvm.JDKs(b)
	im := image(b, jdks[len(jdks)-1])
	var classes [][]byte
	n := 0
	if err := im.Each(func(_, _ string, class []byte) error {
		if n++; n%benchStep == 0 {
			classes = append(classes, append([]byte(nil), class...))
		}
		return nil
	}); err != nil {
		b.Fatal(err)
	}
	for _, of := range []struct {
		name     string
		platform bool
		options  Options
	}{
		{"platform", true, Options{Asked: settings.Settings{Submissions: true}, Sites: someSite{}}},
		{"program", false, Options{Asked: settings.Settings{Submissions: true}, Sites: someSite{}, everywhere: true}},
		{"counting", true, Options{Asked: settings.Settings{Submissions: true}, Sites: someSite{}, Count: true}},
	} {
		b.Run(of.name, func(b *testing.B) {
			h := NewImageHierarchy(im.Class, of.options)
			var work classfile.Workspace
			b.ReportAllocs()
			start := cpuSeconds(b)
			for b.Loop() {
				for _, class := range classes {
					work.Reset()
					if _, err := weaveClass(Input{Class: class, Work: &work, Supers: h, Platform: of.platform}, of.options); err != nil {
						b.Log(err)
					}
				}
			}
			b.ReportMetric((cpuSeconds(b)-start)*1e6/float64(b.N*len(classes)), "CPU-µs/class")
		})
	}
}

// cpuSeconds is the CPU time of this process, garbage collection included.
func cpuSeconds(b *testing.B) float64 {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

// TestWorkspaceReused: the result does not depend on the classes that used the memory before, nor on whether
// they were refused.
func TestWorkspaceReused(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	im := image(t, jdk)
	options := everything
	options.Count = true
	h := NewImageHierarchy(im.Class, options)
	var work classfile.Workspace
	n, woven := 0, 0
	err := im.Each(func(_, name string, class []byte) error {
		if n++; n%200 != 0 {
			return nil
		}
		for _, cut := range []int{0, len(class) / 2} { // the second is no longer a class
			in := Input{Class: class[:len(class)-cut], Supers: h, Platform: true}
			want, wantErr := weaveClass(in, options)
			work.Reset()
			in.Work = &work
			got, err := weaveClass(in, options)
			if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
				t.Errorf("%s without its last %d bytes: %d bytes and %v, in memory of its own %d bytes and %v", name, cut, len(got), err, len(want), wantErr)
			}
			if len(got) > 0 {
				woven++
			}
		}
		return nil
	})
	if err != nil || woven < 20 {
		t.Errorf("%d classes woven, %v", woven, err)
	}
}
