// Package schemagen makes the JSON Schemas of what the verbs print: from the columns of listings and, by reflection,
// from Go types. Descriptions are the columns' documentation and the comments of the fields in the source. Only the
// test that writes docs/schema uses it.
package schemagen

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"stackagent/internal/units"
)

// Draft is the dialect of the schemas.
const Draft = "https://json-schema.org/draft/2020-12/schema"

// Aliased is a type with a MarshalJSON of its own: it marshals to what JSONSchemaAlias returns, whose value does not
// matter. One that returns its own type writes its own fields, null in those that have the tag null.
type Aliased interface{ JSONSchemaAlias() any }

// Union is an interface in a field: what it can hold.
type Union struct {
	Of    reflect.Type
	Among []any
}

// Generator makes the schemas of one file: named structs are definitions that are referred to.
type Generator struct {
	Unions []Union
	Source *Source
	Defs   map[string]*jsonschema.Schema
	names  map[reflect.Type]string
	// Missing lists the properties without a description.
	Missing []string
}

// Of is the schema of a type.
func (g *Generator) Of(t reflect.Type) (*jsonschema.Schema, error) {
	if t == nil {
		return &jsonschema.Schema{}, nil
	}
	null := false
	for t.Kind() == reflect.Pointer {
		t, null = t.Elem(), true
	}
	s, err := g.plain(t)
	if err == nil && null {
		s = nullable(s)
	}
	return s, err
}

// nullable allows null beside s.
func nullable(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type != "" {
		s.Types, s.Type = []string{s.Type, "null"}, ""
		return s
	}
	if len(s.Types) > 0 {
		return s
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

func (g *Generator) plain(t reflect.Type) (*jsonschema.Schema, error) {
	alias, aliased := aliasOf(t)
	if aliased && alias != t {
		return g.Of(alias)
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return &jsonschema.Schema{Type: "string"}, nil
	}
	if !aliased && t.Implements(reflect.TypeFor[json.Marshaler]()) {
		return nil, fmt.Errorf("%s has a MarshalJSON and no JSONSchemaAlias", t)
	}
	switch t.Kind() {
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &jsonschema.Schema{Type: "integer"}, nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: jsonschema.Ptr(0.0)}, nil
	case reflect.Float32, reflect.Float64:
		return &jsonschema.Schema{Type: "number"}, nil
	case reflect.String:
		return &jsonschema.Schema{Type: "string", Examples: g.Source.constants(t)}, nil
	case reflect.Slice, reflect.Array:
		items, err := g.Of(t.Elem())
		if err != nil {
			return nil, err
		}
		s := &jsonschema.Schema{Type: "array", Items: items}
		if t.Kind() == reflect.Array {
			s.MinItems, s.MaxItems = jsonschema.Ptr(t.Len()), jsonschema.Ptr(t.Len())
			return s, nil
		}
		return nullable(s), nil
	case reflect.Map:
		value, err := g.Of(t.Elem())
		if err != nil {
			return nil, err
		}
		return nullable(&jsonschema.Schema{Type: "object", AdditionalProperties: value}), nil
	case reflect.Struct:
		return g.structure(t)
	case reflect.Interface:
		return g.union(t)
	}
	return nil, fmt.Errorf("%s has no JSON", t)
}

func aliasOf(t reflect.Type) (reflect.Type, bool) {
	a, ok := reflect.New(t).Interface().(Aliased)
	if !ok {
		return nil, false
	}
	return reflect.TypeOf(a.JSONSchemaAlias()), true
}

func (g *Generator) union(t reflect.Type) (*jsonschema.Schema, error) {
	for _, u := range g.Unions {
		if u.Of != t {
			continue
		}
		s := &jsonschema.Schema{}
		for _, of := range u.Among {
			of := reflect.TypeOf(of)
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			one, err := g.Of(of)
			if err != nil {
				return nil, err
			}
			s.AnyOf = append(s.AnyOf, one)
		}
		return s, nil
	}
	return nil, fmt.Errorf("it is not known what %s holds", t)
}

// structure is a reference to the definition of a struct.
func (g *Generator) structure(t reflect.Type) (*jsonschema.Schema, error) {
	if g.names == nil {
		g.names, g.Defs = map[reflect.Type]string{}, map[string]*jsonschema.Schema{}
	}
	name, ok := g.names[t]
	if !ok {
		name = g.nameOf(t)
		g.names[t] = name
		s := &jsonschema.Schema{Type: "object", Description: g.Source.typeDoc(t), AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
		g.Defs[name] = s
		if err := g.fields(t, s, name); err != nil {
			return nil, err
		}
	}
	return &jsonschema.Schema{Ref: "#/$defs/" + name}, nil
}

// nameOf is the name of a definition: that of the type, with its package where another has the same.
func (g *Generator) nameOf(t reflect.Type) string {
	name := strings.TrimSuffix(t.Name(), "JSON")
	if at := strings.IndexByte(name, '['); at >= 0 {
		name = name[:at]
	}
	name = strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]
	if name == "" {
		name = "Object"
	}
	full := name
	if g.Defs[full] != nil {
		pkg := t.PkgPath()
		full = name + "Of" + strings.ToUpper(pkg[strings.LastIndexByte(pkg, '/')+1:][:1]) + pkg[strings.LastIndexByte(pkg, '/')+2:]
	}
	for i := 2; g.Defs[full] != nil; i++ {
		full = fmt.Sprintf("%s%d", name, i)
	}
	return full
}

// fields adds the fields of a struct; of two with one name the one that is not embedded counts.
func (g *Generator) fields(t reflect.Type, s *jsonschema.Schema, in string) error {
	if s.Properties == nil {
		s.Properties = map[string]*jsonschema.Schema{}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		tag, omitted, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && tag == "" {
			continue // after those that hide its own
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		if tag == "" {
			tag = f.Name
		}
		if s.Properties[tag] != nil {
			continue
		}
		p, err := g.Of(f.Type)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		if f.Tag.Get("null") != "" {
			p = nullable(p)
		}
		p = g.described(p, t, f, tag, in)
		s.Properties[tag] = p
		s.PropertyOrder = append(s.PropertyOrder, tag)
		if !strings.Contains(omitted, "omitempty") && !strings.Contains(omitted, "omitzero") {
			s.Required = append(s.Required, tag)
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Anonymous && tag == "" {
			of, required := f.Type, len(s.Required)
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			if err := g.fields(of, s, in); err != nil {
				return err
			}
			if of != f.Type {
				s.Required = s.Required[:required] // without it, its fields are missing
			}
		}
	}
	return nil
}

// described is p with what its field is and its unit.
func (g *Generator) described(p *jsonschema.Schema, t reflect.Type, f reflect.StructField, name, in string) *jsonschema.Schema {
	doc := g.Source.fieldDoc(t, f.Name)
	if doc == "" {
		doc = g.Source.typeDoc(named(f.Type))
	}
	unit := unitOf(f.Type, name)
	if doc == "" {
		doc = Words[name]
	}
	if doc == "" {
		g.Missing = append(g.Missing, in+"."+name)
	}
	p.Description = doc
	if unit != "" {
		p.Extra = map[string]any{"unit": unit}
	}
	return p
}

// named is the type whose comment says what a value is.
func named(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	return t
}

// unitOf is the unit of a figure, by the last part of its name.
func unitOf(t reflect.Type, name string) string {
	switch named(t).Kind() {
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Float64, reflect.Float32:
	default:
		return ""
	}
	at := name[strings.LastIndexByte(name, '_')+1:]
	switch {
	case named(t) == reflect.TypeFor[units.MonoNs]():
		return "ns since CLOCK_MONOTONIC began"
	case at == "ns" || at == "ms" || at == "bytes":
		return at
	case at == "share":
		return "1" // 0 to 1
	}
	return ""
}
