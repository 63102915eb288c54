package rollup

import (
	"reflect"
	"strings"
)

// FileColumn is a column of files of roll-ups, for engines that read them.
type FileColumn struct {
	Name string
	Kind reflect.Kind // of its values, or of the elements of a list
	List bool
	Time bool // microseconds since 1970, UTC
}

// FileColumns are the columns, in their order.
func FileColumns() []FileColumn {
	t := reflect.TypeFor[fileRow]()
	list := make([]FileColumn, t.NumField())
	for i := range list {
		tag := t.Field(i).Tag.Get("parquet")
		c := FileColumn{Kind: t.Field(i).Type.Kind(), Time: strings.Contains(tag, "timestamp(")}
		c.Name, _, _ = strings.Cut(tag, ",")
		if c.Kind == reflect.Slice {
			c.List, c.Kind = true, t.Field(i).Type.Elem().Kind()
		}
		list[i] = c
	}
	return list
}
