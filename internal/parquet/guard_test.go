package parquet

import (
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func marshal(t *testing.T, h *format.PageHeader) []byte {
	t.Helper()
	b, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func header(t *testing.T, compressed, plain int32) []byte {
	t.Helper()
	return marshal(t, &format.PageHeader{Type: format.DataPageV2, CompressedPageSize: compressed, UncompressedPageSize: plain,
		DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: 12, NumRows: 12, Encoding: format.Plain})})
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
	small, large := frame(t, 100), frame(t, MaxPageBytes+1)
	page := func(f []byte) []byte { return append(header(t, int32(len(f)), 100), f...) }
	for name, x := range map[string]struct {
		chunk []byte
		ok    bool
	}{
		"good":                      {page(small), true},
		"size in the header":        {page(frame(t, 100_000)), true},
		"2 GiB compressed":          {header(t, 1<<31-1, 100), false},
		"2 GiB plain":               {append(header(t, int32(len(small)), 1<<31-1), small...), false},
		"frame larger than claimed": {page(large), false},
		"second frame":              {page(append(slices.Clone(small), large...)), false},
		"a frame cut":               {page(small[:len(small)-1]), false},
		"no header":                 {[]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f}, false},
	} {
		if _, err := checkChunk(x.chunk, column{codec: format.Zstd}, nil); (err == nil) != x.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := checkChunk(page(small), column{codec: format.Gzip}, nil); err == nil {
		t.Error("a page compressed with gzip was let through")
	}
}

func FuzzCheckChunk(f *testing.F) {
	f.Add([]byte{0x15, 0, 0x15, 200, 1, 0x15, 20, 0})
	f.Fuzz(func(t *testing.T, chunk []byte) { checkChunk(chunk, column{format.Zstd, 0, 1}, nil) }) // must return
}
