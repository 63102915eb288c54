package listing

import "encoding/json"

// Group returns the columns of a part of a row that may be missing: an object called name in JSON,
// columns of their own elsewhere.
func Group[R, S any](name string, of func(R) *S, columns []Column[*S]) []Column[R] {
	list := []Column[R]{{Name: name, CSV: Absent, Kind: Object, Optional: true, Holds: Describe(columns), Value: func(r R) Value {
		part := of(r)
		if part == nil {
			return Null
		}
		return objectOf(part, columns)
	}}}
	for _, c := range columns {
		g := Column[R]{Name: c.Name, CSV: c.CSV, JSON: Absent, Title: c.Title, Doc: c.Doc, Kind: c.Kind, Unit: c.Unit, Optional: true,
			Last: c.Last, Stays: c.Stays}
		if c.Value != nil {
			g.Value = func(r R) Value {
				if part := of(r); part != nil {
					return c.Value(part)
				}
				return Null
			}
		}
		g.Show, g.Text = ofPart(of, c.Show), ofPart(of, c.Text)
		list = append(list, g)
	}
	return list
}

// ofPart is f for a row, "" if the row has no such part.
func ofPart[R, S any](of func(R) *S, f func(*S) string) func(R) string {
	if f == nil {
		return nil
	}
	return func(r R) string {
		if part := of(r); part != nil {
			return f(part)
		}
		return ""
	}
}

// objectOf returns r as a JSON object.
func objectOf[R any](r R, columns []Column[R]) Value {
	b := []byte{'{'}
	for _, c := range columns {
		if c.jsonName() == Absent {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = appendString(b, c.jsonName())
		b = append(b, ':')
		var err error
		if b, err = c.Value(r).appendJSON(b); err != nil {
			return Value{kind: Object, any: failed{err}}
		}
	}
	return ObjectOf(json.RawMessage(append(b, '}')))
}

// failed makes the listing fail with an error that was found inside an object.
type failed struct{ err error }

// MarshalJSON returns the error.
func (f failed) MarshalJSON() ([]byte, error) { return nil, f.err }
