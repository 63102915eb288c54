package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func varints(list ...uint64) (b []byte) {
	for _, v := range list {
		b = binary.AppendUvarint(b, v)
	}
	return b
}

// bomb is delta encoded: that many equal values in two bytes for 65,536.
func bomb(values int) []byte {
	const block = 1 << 16
	b := varints(block, 1, uint64(values), 0)
	for n := 1; n < values; n += block {
		b = append(b, 0, 0)
	}
	return b
}

// A few bytes that stand for more values than the page has are refused before
// the library makes room for them.
func TestPagesOfManyValues(t *testing.T) {
	const n = 100
	zip, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	packed := false
	data := func(e format.Encoding, levels, values []byte) []byte {
		if packed {
			values = zip.EncodeAll(values, nil)
		}
		h := format.PageHeader{Type: format.DataPageV2, CompressedPageSize: int32(len(levels) + len(values)), UncompressedPageSize: int32(len(levels) + len(values)),
			DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: n, NumRows: n, Encoding: e, DefinitionLevelsByteLength: int32(len(levels))})}
		return append(append(marshal(t, &h), levels...), values...)
	}
	dictionary := func(e format.Encoding, values int32) []byte {
		return marshal(t, &format.PageHeader{Type: format.DictionaryPage, DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: values, Encoding: e})})
	}
	many := func(values, nulls int32) []byte {
		return marshal(t, &format.PageHeader{Type: format.DataPageV2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{NumValues: values, NumNulls: nulls, Encoding: format.Plain})})
	}
	run := func(values uint64, v byte) []byte { return append(varints(values<<1), v) }
	groups := func(count int) []byte { return append(varints(uint64(count)<<1|1), make([]byte, count)...) }
	type page struct {
		bytes []byte
		ok    bool
	}
	for _, codec := range []format.CompressionCodec{format.Uncompressed, format.Zstd} {
		packed = codec == format.Zstd
		for name, x := range map[string]page{
			"delta":                     {data(format.DeltaBinaryPacked, nil, bomb(n)), true},
			"delta of 2 G":              {data(format.DeltaBinaryPacked, nil, bomb(math.MaxInt32)[:1<<10]), false},
			"delta of one more":         {data(format.DeltaBinaryPacked, nil, bomb(n+1)), false},
			"lengths":                   {data(format.DeltaLengthByteArray, nil, bomb(n)), true},
			"lengths of 2 G":            {data(format.DeltaLengthByteArray, nil, bomb(math.MaxInt32)[:1<<10]), false},
			"indices":                   {data(format.RLEDictionary, nil, append([]byte{3}, run(n, 1)...)), true},
			"indices in groups":         {data(format.RLEDictionary, nil, append([]byte{1}, groups(13)...)), true}, // the last one filled up
			"indices of 2 G":            {data(format.RLEDictionary, nil, append([]byte{3}, run(math.MaxInt32, 1)...)), false},
			"indices, a second run":     {data(format.RLEDictionary, nil, append(append([]byte{3}, run(n, 1)...), run(n, 1)...)), false},
			"indices of no bits":        {data(format.RLEDictionary, nil, append([]byte{0}, varints(1<<60|1)...)), false},
			"booleans of 2 G":           {data(format.RLE, nil, append([]byte{9, 0, 0, 0}, run(math.MaxInt32, 1)...)), false},
			"levels":                    {data(format.DeltaBinaryPacked, run(n, 1), bomb(n)), true},
			"levels in groups":          {data(format.DeltaBinaryPacked, groups(13), bomb(n)), true},
			"levels of 2 G":             {data(format.DeltaBinaryPacked, run(math.MaxInt32, 1), bomb(n)), false},
			"prefixes":                  {data(format.DeltaByteArray, nil, bomb(n)), false},
			"values":                    {many(MaxPageValues, 0), true},
			"2 G values":                {many(math.MaxInt32, math.MaxInt32), false},
			"less than none":            {many(-1, 0), false},
			"more nulls than values":    {many(1, 2), false},
			"dictionary":                {dictionary(format.Plain, n), true},
			"dictionary of 2 G":         {dictionary(format.Plain, math.MaxInt32), false},
			"dictionary with a bomb":    {dictionary(format.DeltaBinaryPacked, n), false},
			"page of the first version": {marshal(t, &format.PageHeader{Type: format.DataPage}), false},
		} {
			_, err := checkChunk(x.bytes, column{definition: 1, codec: codec}, nil)
			if (err == nil) != x.ok {
				t.Errorf("%s, %v: %v", name, codec, err)
			}
			if err != nil && !errors.Is(err, ErrTooLarge) && !errors.Is(err, errEncoding) {
				t.Errorf("%s, %v: another error: %v", name, codec, err)
			}
		}
	}
}

func FuzzCheckValues(f *testing.F) {
	f.Add(uint8(format.DeltaBinaryPacked), bomb(1000))
	f.Add(uint8(format.RLEDictionary), []byte{3, 200, 1, 7})
	// What is let through decodes into no more than it may.
	f.Fuzz(func(t *testing.T, e uint8, data []byte) {
		if len(data) > 1<<12 || checkValues(format.Encoding(e), data, 1000) != nil || format.Encoding(e) != format.DeltaBinaryPacked {
			return
		}
		values, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, data)
		if err == nil && len(values) > 1000 {
			t.Errorf("%d values", len(values))
		}
	})
}
