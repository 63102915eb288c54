package budget

import (
	"io"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/expression"
	"stackagent/internal/yamlfile"
)

// read reads within limits.
func read(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, maxBytes+1)) }

// each passes the elements of a list.
func each(n *yaml.Node, what string, most int, use yamlfile.Setter) error {
	switch {
	case n.Kind != yaml.SequenceNode:
		return yamlfile.At(n, "%s: needs a list", what)
	case len(n.Content) > most:
		return yamlfile.At(n, "%s: more than %d", what, most)
	}
	for _, c := range n.Content {
		if err := use(c); err != nil {
			return err
		}
	}
	return nil
}

// line takes a text of one line.
func line(to *string) yamlfile.Setter {
	return func(n *yaml.Node) (err error) {
		*to, err = yamlfile.Scalar(n, expression.MaxLength)
		return err
	}
}
