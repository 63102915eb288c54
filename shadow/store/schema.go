package store

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// schemas are those of the tables as this version writes them.
var schemas = sync.OnceValue(makeSchemas)

// mayHaveMore are the tables with columns of extra metrics, and those of version 1.
var mayHaveMore = []Table{Executions, Constructions}

// checkSchema refuses the columns of another table. A column that an earlier
// version did not write may miss, but not the table's first, which is its key; a
// later one may have more, but says in the footer whose they are.
func checkSchema(t Table, pf *parquet.File) error {
	schema := schemas()[t]
	for _, path := range pf.Schema().Columns() {
		leaf, _ := pf.Schema().Lookup(path...)
		want, known := schema.Lookup(path...)
		switch {
		case !known && versionOf(pf) < identifiedFrom && !slices.Contains(mayHaveMore, t):
			return fmt.Errorf("%w: the table %v has no column %.60q", errForeign, t, strings.Join(path, "."))
		case known && leaf.Node.Type().Kind() != want.Node.Type().Kind():
			return fmt.Errorf("%w: column %.60q has the type %v, not %v", errForeign, strings.Join(path, "."), leaf.Node.Type().Kind(), want.Node.Type().Kind())
		}
	}
	for _, path := range schema.Columns()[:1] {
		if _, there := pf.Schema().Lookup(path...); !there {
			return fmt.Errorf("%w: the column %q is missing, which the table %v has", errForeign, strings.Join(path, "."), t)
		}
	}
	return nil
}
