package jfrfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// recording unpacks one of testdata. They were made by the program of shadow/exchange/jfrimport's tests with the JDK of that version;
// counts are those of jfr summary.
func recording(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name+".jfr.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// walk reads all of a recording, each field of each event.
func walk(b []byte, event func(Value)) error {
	f := Open(bytes.NewReader(b), int64(len(b)))
	for {
		c, err := f.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := c.Events(func(e Value) error { event(e); return nil }); err != nil {
			return err
		}
	}
}

func TestRecordings(t *testing.T) {
	for name, want := range map[string]map[string]int{
		"jdk17":          {"jdk.ActiveSetting": 337, "jdk.ThreadStart": 11, "jdk.JavaMonitorWait": 3, "jdk.GCPhasePause": 2, "jdk.ThreadSleep": 2, "jdk.JVMInformation": 1},
		"jdk21":          {"jdk.ActiveSetting": 360, "jdk.VirtualThreadStart": 41, "jdk.VirtualThreadEnd": 41, "jdk.VirtualThreadPinned": 1, "jdk.ThreadPark": 3},
		"jdk25":          {"jdk.MethodTrace": 2896, "jdk.ActiveSetting": 376, "jdk.ThreadSleep": 43, "jdk.VirtualThreadStart": 41, "jdk.GarbageCollection": 3},
		"async-profiler": {"profiler.WallClockSample": 205, "jdk.ActiveSetting": 25, "jdk.ExecutionSample": 8, "jdk.ThreadPark": 4, "jdk.JavaMonitorEnter": 2},
	} {
		got, main := map[string]int{}, ""
		err := walk(recording(t, name), func(e Value) {
			got[e.Type().Name]++
			if e.Type().Name == "jdk.JVMInformation" {
				main = e.Get("javaArguments").Text()
			}
		})
		if err != nil || main[:5] != "Prog " {
			t.Errorf("%s: %v, program %q", name, err, main)
		}
		for typ, n := range want {
			if got[typ] != n {
				t.Errorf("%s: %d of %s, want %d", name, got[typ], typ, n)
			}
		}
	}
}

// TestWrong: damage is an error that says where, never a panic.
func TestWrong(t *testing.T) {
	whole := recording(t, "jdk21")
	unfinished := bytes.Clone(whole)
	clear(unfinished[8:16])
	for _, b := range [][]byte{nil, []byte("FLR"), whole[:67], whole[:1000], whole[:len(whole)-1], unfinished, append(bytes.Clone(whole), "FLR\x00"...)} {
		err := walk(b, func(Value) {})
		var f *FormatError
		if !errors.As(err, &f) {
			t.Errorf("%d bytes: %v", len(b), err)
		}
	}
	if err := walk(append(bytes.Clone(whole), whole...), func(Value) {}); err != nil {
		t.Errorf("two chunks: %v", err)
	}
}

// FuzzRecording reads everything that a damaged recording describes.
func FuzzRecording(f *testing.F) {
	for _, name := range []string{"jdk17", "jdk21", "jdk25", "async-profiler"} {
		f.Add(recording(f, name))
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		_ = walk(b, func(e Value) {
			for i := range e.Type().Fields {
				v := e.At(i)
				v.Int()
				v.Text()
				v.Get("name").Text()
				n := 0
				v.Get("frames").Each(func(x Value) bool { x.Get("method").Get("name").Text(); n++; return n < 100 })
			}
		})
	})
}
