package store

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func header(t *testing.T, compressed, plain int32) []byte {
	t.Helper()
	h := format.PageHeader{Type: format.DataPage, CompressedPageSize: compressed, UncompressedPageSize: plain}
	b, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func frame(t *testing.T, n int) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	return e.EncodeAll(make([]byte, n), nil)
}

// Sizes that a page claims are refused before anything is allocated by them.
func TestPagesThatClaimTooMuch(t *testing.T) {
	small, large := frame(t, 100), frame(t, maxPageBytes+1)
	page := func(f []byte) []byte { return append(header(t, int32(len(f)), 100), f...) }
	for name, x := range map[string]struct {
		chunk []byte
		ok    bool
	}{
		"good":                   {page(small), true},
		"told size":              {page(frame(t, 100_000)), true},
		"2 GiB compressed":       {header(t, 1<<31-1, 100), false},
		"2 GiB plain":            {append(header(t, int32(len(small)), 1<<31-1), small...), false},
		"frame larger than told": {page(large), false},
		"second frame":           {page(append(slices.Clone(small), large...)), false},
		"a frame cut":            {page(small[:len(small)-1]), false},
		"no header":              {[]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f}, false},
	} {
		if err := checkChunk(x.chunk, format.Zstd); (err == nil) != x.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkChunk(page(small), format.Gzip); err == nil {
		t.Error("a page compressed with gzip was let through")
	}
}

// A footer of a few bytes that claims 2^31 row groups: no memory for them.
func TestFooterThatClaimsTooMuch(t *testing.T) {
	dir := t.TempDir()
	footer := []byte{0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0} // field 4: list of 2^31-1 structures
	data := append([]byte("PAR1"), footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	data = append(data, "PAR1"...)
	if err := os.WriteFile(filepath.Join(dir, PartName(Executions, 1, 1)), data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, bad := f.Rows(Executions)
	runtime.ReadMemStats(&after)
	if len(bad) != 1 || !errors.Is(bad[0], errTooLarge) {
		t.Errorf("damage: %v, want %v", bad, errTooLarge)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for %d", n, len(data))
	}
}

func FuzzCheckChunk(f *testing.F) {
	f.Add([]byte{0x15, 0, 0x15, 200, 1, 0x15, 20, 0})
	f.Fuzz(func(t *testing.T, chunk []byte) { checkChunk(chunk, format.Zstd) }) // must return
}
