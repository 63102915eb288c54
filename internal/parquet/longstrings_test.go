package parquet

import (
	"bytes"
	"strings"
	"testing"

	lib "github.com/parquet-go/parquet-go"
)

// TestLongStrings: the statistics in the header of a page repeat its smallest and its largest string. A name as long as the
// JVM allows for a class is no damage.
func TestLongStrings(t *testing.T) {
	type named struct {
		Name *string `parquet:"name,optional,dict"`
	}
	for _, n := range []int{1000, 20_000, 65_535} {
		long := strings.Repeat("n", n)
		var b bytes.Buffer
		if err := Write(&b, []named{{&long}}, 1, nil); err != nil {
			t.Fatal(err)
		}
		f, err := lib.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil {
			t.Fatal(err)
		}
		if err := Pages(bytes.NewReader(b.Bytes()), int64(b.Len()), f, nil); err != nil {
			t.Errorf("a name of %d bytes: %v", n, err)
		}
	}
}
