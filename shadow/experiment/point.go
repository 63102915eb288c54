package experiment

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"strconv"
	"strings"

	"stackagent/internal/text"
)

// Level is one value of a factor: what varies, and how it is in a run.
type Level struct{ Factor, Value string }

// Point says which value each factor has, in the order in which the factors were given. Its text in JSON
// is an object.
type Point []Level

// Of is the value of a factor, "" if the point has none.
func (p Point) Of(factor string) string {
	for _, l := range p {
		if l.Factor == factor {
			return l.Value
		}
	}
	return ""
}

// With is p with one more factor.
func (p Point) With(factor, value string) Point {
	return append(p[:len(p):len(p)], Level{factor, value})
}

// Without is p without a factor.
func (p Point) Without(factor string) Point {
	var out Point
	for _, l := range p {
		if l.Factor != factor {
			out = append(out, l)
		}
	}
	return out
}

// String names the point for people.
func (p Point) String() string {
	var words []string
	for _, l := range p {
		words = append(words, l.Factor+" "+l.Value)
	}
	if len(words) == 0 {
		return "the command"
	}
	return strings.Join(words, ", ")
}

// Label names the point in a figure or a table.
func (p Point) Label() string {
	var words []string
	for _, l := range p {
		switch n, err := strconv.Atoi(l.Value); {
		case l.Factor == GCThreads && err == nil:
			words = append(words, text.PluralExact(n, "GC thread", "GC threads"))
		case l.Factor == JDK:
			words = append(words, filepath.Base(l.Value))
		case l.Factor == HeapMultiple:
			words = append(words, l.Value+" heap")
		case l.Factor == Heap && p.Of(HeapMultiple) != "":
		default:
			words = append(words, l.Value)
		}
	}
	return strings.Join(words, ", ")
}

// longestName bounds the name of a folder, bytes; file systems take 255.
const longestName = 120

// Folder names the point in a path; "" where nothing varies. Two points never have the same.
func (p Point) Folder() string {
	var words []string
	for _, l := range p {
		words = append(words, l.Factor+"-"+l.Value)
	}
	name := strings.Join(words, "-")
	if name == "" {
		return ""
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '+':
			return r
		}
		return '_'
	}, name)
	if clean != name || len(clean) > longestName || clean[0] == '.' {
		h := fnv.New32a()
		h.Write([]byte(name))
		clean = fmt.Sprintf("%s-%08x", strings.TrimLeft(clean[:min(len(clean), longestName)], "."), h.Sum32())
	}
	return clean
}

// JSONSchemaAlias has what MarshalJSON writes: factors and their values.
func (Point) JSONSchemaAlias() any { return map[string]string{} }

// MarshalJSON writes an object with the factors in their order.
func (p Point) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, l := range p {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(l.Factor)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(l.Value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// mostFactors bounds the factors of a point that is read from a file.
const mostFactors = 32

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Point) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errors.New("a point is an object of factors and values")
	}
	*p = Point{}
	for d.More() {
		var l Level
		name, err := d.Token()
		if err != nil {
			return err
		}
		l.Factor = name.(string) // the key of an object
		if err := d.Decode(&l.Value); err != nil {
			return fmt.Errorf("factor %.40q: %w", l.Factor, err)
		}
		if len(*p) == mostFactors {
			return fmt.Errorf("a point has more than %d factors", mostFactors)
		}
		if p.Of(l.Factor) != "" {
			return fmt.Errorf("a point has the factor %.40q twice", l.Factor)
		}
		*p = append(*p, l)
	}
	return nil
}

// Cross is every combination of the points with the values of one more factor.
func Cross(points []Point, factor string, values []string) []Point {
	if len(values) == 0 {
		return points
	}
	if len(points) == 0 {
		points = []Point{nil}
	}
	var out []Point
	for _, p := range points {
		for _, v := range values {
			out = append(out, p.With(factor, v))
		}
	}
	return out
}
