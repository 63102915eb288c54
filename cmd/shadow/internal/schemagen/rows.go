package schemagen

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"stackagent/internal/listing"
)

var kinds = map[listing.Kind]string{listing.Int: "integer", listing.Uint: "integer", listing.Float: "number", listing.Bool: "boolean", listing.Name: "string", listing.Word: "string"}

var unitNames = map[listing.Unit]string{listing.Ns: "ns", listing.Share: "1"}

// Row is the schema of a row of a listing whose columns differ with flags and sessions: what is not in all lists is
// not required.
func (g *Generator) Row(in string, lists ...[]listing.Described) (*jsonschema.Schema, error) {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	seen := map[string]int{}
	for _, columns := range lists {
		for _, c := range columns {
			if seen[c.Name]++; s.Properties[c.Name] != nil {
				continue
			}
			p, err := g.column(in, c)
			if err != nil {
				return nil, err
			}
			s.Properties[c.Name] = p
			s.PropertyOrder = append(s.PropertyOrder, c.Name)
		}
	}
	for _, name := range s.PropertyOrder {
		if seen[name] == len(lists) {
			s.Required = append(s.Required, name)
		}
	}
	return s, nil
}

func (g *Generator) column(in string, c listing.Described) (p *jsonschema.Schema, err error) {
	switch holds := c.Holds.(type) {
	case nil:
		if kinds[c.Kind] == "" {
			return nil, fmt.Errorf("%s.%s: it is not known what it holds", in, c.Name)
		}
		p = &jsonschema.Schema{Type: kinds[c.Kind]}
	case []listing.Described:
		p, err = g.Row(in+"."+c.Name, holds)
	default:
		p, err = g.Of(reflect.TypeOf(holds))
	}
	if err != nil {
		return nil, err
	}
	if c.Optional {
		p = nullable(p)
	}
	if p.Description = cmp.Or(c.Doc, Words[c.Name]); p.Description == "" {
		g.Missing = append(g.Missing, in+"."+c.Name)
	}
	if unit := unitNames[c.Unit]; unit != "" {
		p.Extra = map[string]any{"unit": unit}
	}
	return p, nil
}
