package listing

// Described is a column as JSON has it: what its schema is made from.
type Described struct {
	Name, Doc string
	Kind      Kind
	Unit      Unit
	Optional  bool
	Holds     any // of an Object: a value of its type, or the []Described of its fields
}

// Describe returns the columns that JSON has.
func Describe[R any](columns []Column[R]) (list []Described) {
	for _, c := range columns {
		if name := c.jsonName(); name != Absent {
			list = append(list, Described{name, c.Doc, c.Kind, c.Unit, c.Optional, c.Holds})
		}
	}
	return list
}
