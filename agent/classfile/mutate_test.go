package classfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"stackagent/agent/jimage"
	"stackagent/internal/testjvm"
)

// TestMutations changes single bytes of real classes (every fifth; every one if
// STACKAGENT_ALL_CLASSES is 1) and edits what still parses: no panic, and only
// typed errors. Unlike random input this reaches every structure of the format.
func TestMutations(t *testing.T) {
	_, classes := compileJava(t, testjvm.JDKs(t)[0])
	accepted, refused, step := 0, 0, 23
	if os.Getenv("STACKAGENT_ALL_CLASSES") == "1" {
		step = 1
	}
	for _, name := range []string{"Plain.class", "Plain$Derived.class", "Modern.class"} {
		seed := classes[name]
		for at := 0; at < len(seed); at += step {
			for _, v := range []byte{0, 1, seed[at] + 1, seed[at] ^ 0x80, 0xFF} {
				b := bytes.Clone(seed)
				b[at] = v
				if _, err := transform(b, func(c *Class) { c.jumpLimit = 30 }, probe); err != nil {
					typed(t, err)
					refused++
					continue
				}
				accepted++
			}
		}
	}
	if accepted == 0 || refused < 2500/step {
		t.Errorf("%d accepted, %d refused", accepted, refused)
	}
}

// benchmarkClass is a class of usual size: 9 KB.
func benchmarkClass(b *testing.B) []byte {
	b.Helper()
	im, err := jimage.Open(filepath.Join(testjvm.JDKs(b)[0].Home, "lib", "modules"))
	if err != nil {
		b.Fatal(err)
	}
	defer im.Close()
	data, err := im.Class("java/util/concurrent/FutureTask")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	b.ResetTimer()
	return data
}

func BenchmarkParseHeader(b *testing.B) {
	data := benchmarkClass(b)
	for b.Loop() {
		if _, err := ParseHeader(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	data := benchmarkClass(b)
	for b.Loop() {
		if _, err := Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkProbeOneMethod is what weaving a task costs: one method edited.
func BenchmarkProbeOneMethod(b *testing.B) {
	data := benchmarkClass(b)
	for b.Loop() {
		c, err := Parse(data)
		if err != nil {
			b.Fatal(err)
		}
		code, err := c.Method("run", "()V").Code()
		if err != nil {
			b.Fatal(err)
		}
		probe(code)
		if _, err := c.Write(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodeAll encodes every method anew.
func BenchmarkEncodeAll(b *testing.B) {
	data := benchmarkClass(b)
	for b.Loop() {
		if _, err := transform(data, func(*Class) {}, func(*Code) {}); err != nil {
			b.Fatal(err)
		}
	}
}
