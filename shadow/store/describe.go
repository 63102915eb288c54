package store

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// Column is a column of a table as this version writes it.
type Column struct {
	Name string
	Kind reflect.Kind // of its values: reflect.Uint64, String, ...
	List bool         // of lists of these
}

// ColumnsOf are the columns of a table without those of extra metrics, in their order.
func ColumnsOf(t Table) []Column {
	var all []Column
	for _, f := range schemas()[t].Fields() {
		c := Column{Name: f.Name()}
		leaf := parquet.Node(f)
		for !leaf.Leaf() { // the groups that Parquet makes of a list
			c.List = true
			leaf = leaf.Fields()[0]
		}
		of := leaf.GoType()
		for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		c.Kind = of.Kind()
		all = append(all, c)
	}
	return all
}

// PartNames are the names of the files of a table that count, in their order.
func (f *Folder) PartNames(t Table) []string {
	names := make([]string, 0, len(f.parts[t]))
	for _, r := range f.parts[t] {
		names = append(names, PartName(t, r.From, r.To))
	}
	return names
}
