package budget

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/expression"
	"stackagent/internal/text"
)

// read reads within limits.
func read(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, maxBytes+1)) }

// document is the one document of a YAML file. The callers walk its nodes: decoding into a struct would expand aliases and
// lose the lines.
func document(data []byte) (*yaml.Node, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("larger than %d bytes", maxBytes)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var n yaml.Node
	if err := d.Decode(&n); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty")
	} else if err != nil {
		return nil, errors.New(text.OneLine(err.Error()))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document")
	}
	return n.Content[0], nil
}

// at is an error on a line of the file.
func at(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", n.Line, fmt.Errorf(format, args...))
}

// setter takes the value of a key.
type setter func(*yaml.Node) error

// fields passes the values of a mapping to the setters of their keys.
func fields(n *yaml.Node, what string, setters map[string]setter) error {
	if n.Kind != yaml.MappingNode {
		return at(n, "a %s has keys with values", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set := setters[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || set == nil:
			name := text.Cut(text.OneLine(key.Value), 40)
			return at(key, "%q is no key of a %s%s", name, what, text.DidYouMean(name, slices.Sorted(maps.Keys(setters))))
		case seen[key.Value]:
			return at(key, "%s: is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := set(value); err != nil {
			return err
		}
	}
	return nil
}

// each passes the elements of a list.
func each(n *yaml.Node, what string, most int, use setter) error {
	switch {
	case n.Kind != yaml.SequenceNode:
		return at(n, "%s: needs a list", what)
	case len(n.Content) > most:
		return at(n, "%s: more than %d", what, most)
	}
	for _, c := range n.Content {
		if err := use(c); err != nil {
			return err
		}
	}
	return nil
}

// line takes a text of one line.
func line(to *string) setter {
	return func(n *yaml.Node) error {
		switch {
		case n.Kind == yaml.AliasNode:
			return at(n, "aliases are not allowed")
		case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
			return at(n, "needs a text")
		case len(n.Value) > expression.MaxLength:
			return at(n, "a text of more than %d bytes", expression.MaxLength)
		case text.Clean(n.Value, '\ufffd') != n.Value:
			return at(n, "a text with line ends or hidden characters: %q", text.Cut(text.OneLine(n.Value), 40))
		}
		*to = n.Value
		return nil
	}
}
