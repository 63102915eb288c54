package perfdata

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// file makes performance data as HotSpot lays it out.
func file(order binary.ByteOrder, longs map[string]int64, texts map[string]string) []byte {
	b := make([]byte, headerSize)
	binary.BigEndian.PutUint32(b, magic)
	if order == binary.ByteOrder(binary.LittleEndian) {
		b[atOrder] = littleOrder
	}
	b[atMajor], b[atAccessible] = 2, 1
	count := 0
	entry := func(name string, kind byte, vector int, data []byte) {
		offset := (entrySize + len(name) + 1 + 7) / 8 * 8
		e := make([]byte, offset+(len(data)+7)/8*8)
		order.PutUint32(e, uint32(len(e)))
		order.PutUint32(e[4:], entrySize)
		order.PutUint32(e[8:], uint32(vector))
		e[12] = kind
		order.PutUint32(e[16:], uint32(offset))
		copy(e[entrySize:], name)
		copy(e[offset:], data)
		b = append(b, e...)
		count++
	}
	for name, n := range longs {
		v := make([]byte, 8)
		order.PutUint64(v, uint64(n))
		entry(name, typeLong, 0, v)
	}
	for name, s := range texts {
		entry(name, typeByte, len(s)+8, append([]byte(s), make([]byte, 8)...))
	}
	order.PutUint32(b[atUsed:], uint32(len(b)))
	order.PutUint32(b[atEntries:], headerSize)
	order.PutUint32(b[atCount:], uint32(count))
	return b
}

func TestParse(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := file(order, map[string]int64{"sun.rt.safepoints": 7, "negative": -3}, map[string]string{"sun.gc.cause": "System.gc()"})
		l, err := Parse(append(b, make([]byte, 100)...))
		if err != nil {
			t.Fatal(err)
		}
		if n, ok := l.Long(b, "sun.rt.safepoints"); !ok || n != 7 {
			t.Errorf("%v: safepoints %d, %v", order, n, ok)
		}
		if n, ok := l.Long(b, "negative"); !ok || n != -3 {
			t.Errorf("%v: %d, %v", order, n, ok)
		}
		if s, ok := l.Text(b, "sun.gc.cause"); !ok || s != "System.gc()" {
			t.Errorf("%v: cause %q, %v", order, s, ok)
		}
		if _, ok := l.Long(b, "sun.gc.cause"); ok {
			t.Error("a text was read as a number")
		}
		b[atAccessible] = 0
		if _, err := Parse(b); !errors.Is(err, ErrNotReady) {
			t.Errorf("not accessible: %v", err)
		}
	}
	if _, err := Parse([]byte("short")); !errors.Is(err, ErrDamaged) {
		t.Errorf("short: %v", err)
	}
}

// TestStarting: a JVM that starts makes its file, gives it its size, and then fills it in; until that is done there are no counters, and from then on there are.
func TestStarting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "1")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newProcess(os.Getpid(), f)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	whole := file(binary.LittleEndian, map[string]int64{"sun.rt.safepoints": 7}, nil)
	begun := make([]byte, len(whole))
	binary.BigEndian.PutUint32(begun, magic)
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{{"empty", nil, ErrNotReady}, {"zeros", make([]byte, len(whole)), ErrNotReady}, {"its first bytes", begun, ErrNotReady}, {"whole", whole, nil}} {
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := p.Read(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if n, ok := p.Long("sun.rt.safepoints"); !ok || n != 7 {
		t.Errorf("safepoints %d, %v; want 7", n, ok)
	}
}

// This very process is no JVM.
func TestNone(t *testing.T) {
	if p, err := Open(os.Getpid()); !errors.Is(err, ErrNone) {
		t.Errorf("%v, %v; want %v", p, err, ErrNone)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(file(binary.LittleEndian, map[string]int64{"a": 1}, map[string]string{"b": "text"}))
	f.Add(file(binary.BigEndian, nil, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := Parse(b)
		if err != nil {
			return
		}
		for name := range l.longs {
			if _, ok := l.Long(b, name); !ok {
				t.Fatalf("%s cannot be read", name)
			}
			l.Long(b[:len(b)/2], name) // a file that was cut since
		}
		for name := range l.texts {
			if _, ok := l.Text(b, name); !ok {
				t.Fatalf("%s cannot be read", name)
			}
			l.Text(b[:len(b)/2], name)
		}
	})
}
