// Package yamlfile reads YAML files that users write, node by node: decoding into a struct would expand aliases and lose the lines that
// errors name.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/text"
)

// ErrEmpty is a file without a document.
var ErrEmpty = errors.New("it is empty")

// Document is the one document of a file of at most that many bytes.
func Document(data []byte, most int) (*yaml.Node, error) {
	if len(data) > most {
		return nil, fmt.Errorf("larger than %d bytes", most)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	var n yaml.Node
	if err := d.Decode(&n); errors.Is(err, io.EOF) {
		return nil, ErrEmpty
	} else if err != nil {
		return nil, errors.New(text.OneLine(err.Error()))
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("it has more than one document")
	}
	return n.Content[0], nil
}

// At is an error on a line of the file.
func At(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %w", n.Line, fmt.Errorf(format, args...))
}

// Setter takes the value of a key.
type Setter func(*yaml.Node) error

// Fields passes the values of a mapping to the setters of their keys. what it is stands in errors.
func Fields(n *yaml.Node, what string, setters map[string]Setter) error {
	if n.Kind != yaml.MappingNode {
		return At(n, "a %s has keys with values, such as name: lucene", what)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set := setters[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || set == nil:
			name := text.Cut(text.OneLine(key.Value), 40)
			return At(key, "%q is not a key of a %s%s", name, what, text.DidYouMean(name, slices.Sorted(maps.Keys(setters))))
		case seen[key.Value]:
			return At(key, "%s: is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := set(value); err != nil {
			return err
		}
	}
	return nil
}

// Scalar is the text of a value, whose length is bounded, without characters that act on a terminal.
func Scalar(n *yaml.Node, most int) (string, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return "", At(n, "aliases are not allowed")
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return "", At(n, "needs a text")
	case len(n.Value) > most:
		return "", At(n, "a text of more than %d bytes", most)
	case text.Clean(n.Value, '\ufffd') != n.Value:
		return "", At(n, "a text with line ends or hidden characters: %q", text.Cut(text.OneLine(n.Value), 40))
	}
	return n.Value, nil
}
