package classfile

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"stackagent/agent/jimage"
	"stackagent/internal/testjvm"
)

// eachClass calls f for the classes of a JDK, one in every step.
func eachClass(t *testing.T, jdk testjvm.JDK, step int, f func(module, name string, b []byte)) {
	t.Helper()
	im, err := jimage.Open(filepath.Join(jdk.Home, "lib", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	n := 0
	err = im.Each(func(module, name string, b []byte) error {
		if n++; n%step == 0 {
			f(module, name, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 10000 {
		t.Fatalf("%s has %d classes", jdk, n)
	}
}

func sample() int {
	if testing.Short() {
		return 10
	}
	return 1
}

// TestIdentity parses and writes every class of the JDKs: first nothing edited,
// then every method encoded anew, which must mean the same.
func TestIdentity(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			t.Parallel()
			classes, methods, frames, bytesEqual := 0, 0, 0, 0
			eachClass(t, jdk, sample(), func(module, name string, b []byte) {
				c, err := Parse(b)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				out, err := c.Write()
				if err != nil || !bytes.Equal(b, out) {
					t.Fatalf("%s: not the identity: %v", name, err)
				}
				h, err := ParseHeader(b)
				if err != nil || h.Name != c.Name || h.Super != c.Super || fmt.Sprint(h.Interfaces) != fmt.Sprint(c.Interfaces) {
					t.Fatalf("%s: header %+v, %v", name, h, err)
				}
				classes++
				m, f, same := reencode(t, c, b)
				methods += m
				frames += f
				if same {
					bytesEqual++
				}
			})
			t.Logf("%d classes, %d methods, %d frames; %d classes are equal byte for byte all the same",
				classes, methods, frames, bytesEqual)
			if methods < 5*classes || frames < methods/10 {
				t.Error("too little was compared")
			}
		})
	}
}

// reencode forces every method to be encoded, parses the result and compares.
func reencode(t *testing.T, c *Class, b []byte) (methods, frames int, same bool) {
	t.Helper()
	before, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Methods {
		code, err := m.Code()
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		if code != nil {
			code.Edited()
		}
	}
	out, err := c.Write()
	if err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	after, err := Parse(out)
	if err != nil {
		t.Fatalf("%s written anew: %v", c.Name, err)
	}
	for i, m := range before.Methods {
		x, err := m.Code()
		if err != nil {
			t.Fatalf("%s: %v", m, err)
		}
		y, err := after.Methods[i].Code()
		if err != nil {
			t.Fatalf("%s written anew: %v", m, err)
		}
		if (x == nil) != (y == nil) {
			t.Fatalf("%s lost its code", m)
		}
		if x == nil {
			continue
		}
		methods++
		_, f := ordinals(x)
		frames += len(f)
		if d := difference(x, y); d != "" {
			t.Fatalf("%s: encoded anew it differs in %s", m, d)
		}
	}
	return methods, frames, bytes.Equal(b, out)
}

// TestTruncated cuts a real class at every byte: always a FormatError.
func TestTruncated(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	im, err := jimage.Open(filepath.Join(jdk.Home, "lib", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	defer im.Close()
	b, err := im.Class("java/util/concurrent/FutureTask")
	if err != nil {
		t.Fatal(err)
	}
	for n := range b {
		var fe *FormatError
		if _, err := Parse(b[:n]); !errors.As(err, &fe) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if _, err := ParseHeader(b[:n]); err != nil && !errors.As(err, &fe) {
			t.Fatalf("header cut at %d: %v", n, err)
		}
	}
	if _, err := Parse(append(bytes.Clone(b), 0)); err == nil {
		t.Error("a byte too many was accepted")
	}
}
