package jimage

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

func openJDK(t *testing.T, jdk testjvm.JDK) *Image {
	t.Helper()
	im, err := Open(filepath.Join(jdk.Home, "lib", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { im.Close() })
	return im
}

// TestEach reads every class of every JDK: Each and Class must agree, and the
// classes of java.base must be what the JVM itself says they are.
func TestEach(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			im := openJDK(t, jdk)
			count, modules := 0, map[string]int{}
			err := im.Each(func(module, name string, b []byte) error {
				count++
				modules[module]++
				if len(b) < 10 || binary.BigEndian.Uint32(b) != 0xCAFEBABE {
					t.Fatalf("%s/%s is no class file", module, name)
				}
				if count%50 != 0 || name == "module-info" {
					return nil
				}
				again, err := im.Class(name)
				if err != nil {
					return err
				}
				if !bytes.Equal(b, again) {
					t.Errorf("%s differs between Each and Class", name)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if modules["java.base"] < 5000 || len(modules) < 20 {
				t.Errorf("%d classes, of java.base %d, in %d modules", count, modules["java.base"], len(modules))
			}
			t.Logf("%d classes in %d modules", count, len(modules))
		})
	}
}

// TestAgainstJimageTool compares classes with what the JDK's own tool extracts.
func TestAgainstJimageTool(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			im := openJDK(t, jdk)
			dir := t.TempDir()
			cmd := exec.Command(jdk.Tool("jimage"), "extract", "--dir", dir,
				"--include", "glob:**/java/util/concurrent/*.class", filepath.Join(jdk.Home, "lib", "modules"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("jimage extract: %v\n%s", err, out)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "java.base/java/util/concurrent/*.class"))
			if len(files) < 100 {
				t.Fatalf("the tool extracted %d files", len(files))
			}
			for _, f := range files {
				want, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				name := "java/util/concurrent/" + filepath.Base(f[:len(f)-len(".class")])
				got, err := im.Class(name)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s differs from what the tool extracts", name)
				}
			}
		})
	}
}

func TestNotFound(t *testing.T) {
	im := openJDK(t, testjvm.JDKs(t)[0])
	for _, name := range []string{"", "NoPackage", "java/lang/NoSuchClass", "no/such/Package", "java/lang/", "/"} {
		if b, err := im.Class(name); !errors.Is(err, ErrNotFound) {
			t.Errorf("Class(%q) = %d bytes, %v", name, len(b), err)
		}
	}
}

// testImage makes an image of a single resource, which the table of one entry
// holds whatever its hash.
func testImage(content []byte, compressed, size uint64) []byte {
	texts := "\x00java.base\x00java/lang\x00A\x00class\x00zip\x00compact-cp\x00"
	at := func(s string) byte { return byte(bytes.Index([]byte(texts), []byte("\x00"+s+"\x00")) + 1) }
	var loc []byte
	for kind, s := range map[int]string{attrModule: "java.base", attrParent: "java/lang", attrBase: "A", attrExtension: "class"} {
		loc = append(loc, byte(kind<<3), at(s))
	}
	for kind, v := range map[int]uint64{attrCompressed: compressed, attrUncompressed: size} {
		loc = append(loc, byte(kind<<3|7))
		loc = binary.BigEndian.AppendUint64(loc, v)
	}
	loc = append(loc, attrEnd)
	var b []byte
	for _, v := range []int{magic, 1 << 16, 0, 1, 1, len(loc), len(texts), -1, 0} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(append(b, loc...), texts...)
	return append(b, content...)
}

// packed puts the header of a compressed resource in front of its content.
func packed(method uint32, content []byte, plain int, last byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, resourceMagic)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(content)))
	b = binary.LittleEndian.AppendUint64(b, uint64(plain))
	b = binary.LittleEndian.AppendUint32(b, method)
	b = append(b, 0, 0, 0, 0, last)
	return append(b, content...)
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func TestCompressed(t *testing.T) {
	const zip, compact = 29, 33 // offsets in the strings of testImage
	plain := []byte("the content of a class")
	once := packed(zip, deflate(plain), len(plain), 1)
	inner := packed(zip, deflate(plain), len(plain), 1)
	twice := packed(zip, deflate(inner), len(inner), 0)
	n := uint64(len(plain))
	for _, tt := range []struct {
		name       string
		stored     []byte
		size       uint64
		ok         bool
		compressed bool
	}{
		{"once", once, n, true, false},
		{"twice", twice, n, true, false},
		{"wrong size", once, n + 1, false, false},
		{"cut", once[:len(once)-4], n, false, false},
		{"bomb", packed(zip, deflate(make([]byte, 1<<20)), 10, 1), 10, false, false},
		{"other method", packed(compact, plain, len(plain), 1), n, false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			img := testImage(tt.stored, uint64(len(tt.stored)), tt.size)
			im, err := newImage("test", bytes.NewReader(img), int64(len(img)))
			if err != nil {
				t.Fatal(err)
			}
			b, err := im.Resource("/java.base/java/lang/A.class")
			if tt.ok {
				if err != nil || !bytes.Equal(b, plain) {
					t.Errorf("got %q, %v", b, err)
				}
				return
			}
			var ce *CompressedError
			var fe *FormatError
			if tt.compressed && !errors.As(err, &ce) || !tt.compressed && !errors.As(err, &fe) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestMalformed(t *testing.T) {
	good := testImage([]byte("abc"), 0, 3)
	edit := func(at int, v uint32) []byte {
		b := bytes.Clone(good)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	for name, b := range map[string][]byte{
		"empty":         {},
		"magic":         edit(0, 1),
		"version":       edit(4, 2<<16),
		"table of 0":    edit(16, 0),
		"table large":   edit(16, 1<<31),
		"locations":     edit(20, 1<<31),
		"strings":       edit(24, 0xFFFFFFFF),
		"no strings":    edit(24, 0),
		"redirect":      edit(28, 0x80000001),
		"location":      edit(32, 0xFFFFFFFF),
		"content short": good[:len(good)-1],
	} {
		im, err := newImage("test", bytes.NewReader(b), int64(len(b)))
		if err == nil {
			_, err = im.Resource("/java.base/java/lang/A.class")
		}
		var fe *FormatError
		if !errors.As(err, &fe) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzImage(f *testing.F) {
	plain := []byte("the content of a class")
	f.Add(testImage(plain, 0, uint64(len(plain))))
	once := packed(29, deflate(plain), len(plain), 1)
	f.Add(testImage(once, uint64(len(once)), uint64(len(plain))))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := newImage("fuzz", bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		im.Class("java/lang/A")
		im.Resource("/java.base/java/lang/A.class")
		im.Each(func(_, _ string, b []byte) error { return nil })
	})
}
