package store

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// identity says whose part a file is. It stands in the footer, so that a part
// under another name, or of another session, is recognised also before the
// manifest names it with its checksum.
type identity struct {
	session, process string
	table            Table
	Range
}

// Keys in the footer of a part.
const (
	sessionKey = "stackagent.session"
	processKey = "stackagent.process" // Manifest.Process
	tableKey   = "stackagent.table"
	fromKey    = "stackagent.from" // first batch
	toKey      = "stackagent.to"   // last batch
)

// identifiedFrom is the version of the format from which on footers hold it.
const identifiedFrom = 3

var errForeign = errors.New("it is not a part of this session")

func (id identity) metadata() []format.KeyValue {
	return []format.KeyValue{
		{Key: versionKey, Value: strconv.Itoa(Version)}, {Key: sessionKey, Value: id.session}, {Key: processKey, Value: id.process},
		{Key: tableKey, Value: id.table.String()},
		{Key: fromKey, Value: strconv.FormatUint(id.From, 10)}, {Key: toKey, Value: strconv.FormatUint(id.To, 10)},
	}
}

// check holds the footer of a part against who it should be.
func (id identity) check(pf *parquet.File) error {
	for _, want := range id.metadata()[1:] {
		if got, ok := pf.Lookup(want.Key); !ok || got != want.Value {
			return fmt.Errorf("%w: its footer has %s %.60q, not %q", errForeign, want.Key, got, want.Value)
		}
	}
	return nil
}

// versionOf is the version of the format by which a part was written.
func versionOf(pf *parquet.File) int {
	text, _ := pf.Lookup(versionKey)
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}
