package mcpserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stackagent/internal/text"
)

// Bounds of an answer.
const (
	defaultRows = 20
	mostRows    = 200
	mostBytes   = 48 << 10 // as it is sent: a line, in which the JSON of the answer is a string
	envelope    = 2 << 10  // what the line and the answer have beside rows, fields and notes
	namesBytes  = 4 << 10  // names of fields that have no room
	notesBytes  = 8 << 10
)

// paging chooses the part of an answer.
type paging struct {
	Field  string `json:"field,omitempty" jsonschema:"only this field of the answer, where it is an object; a.b is the field b of the field a"`
	Offset int    `json:"offset,omitempty" jsonschema:"rows to skip, to get those that an answer said there are more of"`
	Limit  int    `json:"limit,omitempty" jsonschema:"most rows of the answer: 20 by default, at most 200"`
}

func (p paging) check() error {
	if p.Offset < 0 || p.Limit < 0 || p.Limit > mostRows {
		return fmt.Errorf("offset and limit are 0 or more, and limit at most %d", mostRows)
	}
	return nil
}

// answer is what a tool returns.
type answer struct {
	Rows    []json.RawMessage          `json:"rows,omitempty"`
	Fields  map[string]json.RawMessage `json:"fields,omitempty"`
	Total   int                        `json:"total,omitempty"` // rows that there are
	Offset  int                        `json:"offset,omitempty"`
	More    string                     `json:"more,omitempty"`     // how to get the rest
	LeftOut []string                   `json:"left_out,omitempty"` // fields that have no room; ask for one with field
	Notes   string                     `json:"notes,omitempty"`

	room int // bytes that are left
}

// answerOf begins an answer.
func answerOf(notes string) *answer {
	notes = text.Cut(text.OneLine(notes), 2000)
	for sent(encode(notes)) > notesBytes {
		notes = text.Cut(notes, len(notes)/2)
	}
	return &answer{Notes: notes, room: mostBytes - envelope - namesBytes - sent(encode(notes))}
}

// result is the answer as text: a client that shows an assistant both text and structured content would cost it twice.
func (a *answer) result() (*mcp.CallToolResult, any, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(encode(a))}}}, nil, nil
}

// encode is JSON without hidden characters.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(text.JSON(&b))
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // the types are ours
	}
	return bytes.TrimSpace(b.Bytes())
}

// compact is JSON without the space of its lines.
func compact(out []byte) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := json.Compact(&b, out); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	return b.Bytes(), nil
}

// sent is the length of JSON within a string of the line that is sent.
func sent(raw json.RawMessage) int {
	b, _ := json.Marshal(string(raw)) // a string has JSON
	return len(b)
}

// cut takes the part of a document that p asks for and that fits.
func (a *answer) cut(doc json.RawMessage, p paging) error {
	name := p.Field
	if name != "" {
		var ok bool
		if doc, ok = field(doc, name); !ok {
			return errors.New("the answer has no such field")
		}
	}
	var rows []json.RawMessage
	if json.Unmarshal(doc, &rows) == nil && rows != nil {
		a.cutRows(rows, p)
		return nil
	}
	parts := map[string]json.RawMessage{name: doc}
	if name == "" || sent(doc)+sent(encode(name)) > a.room {
		var within map[string]json.RawMessage
		if err := json.Unmarshal(doc, &within); err != nil && name == "" {
			return fmt.Errorf("reading the answer: %w", err)
		}
		if len(within) > 0 {
			clear(parts)
		}
		for k, v := range within {
			parts[strings.TrimPrefix(name+"."+k, ".")] = v
		}
	}
	a.cutFields(parts)
	return nil
}

// field finds a field, or one of a field: names of fields can have dots themselves.
func field(doc json.RawMessage, name string) (json.RawMessage, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(doc, &fields) != nil {
		return nil, false
	}
	if one, ok := fields[name]; ok {
		return one, true
	}
	for i := range len(name) {
		if one, ok := fields[name[:i]]; ok && name[i] == '.' {
			if one, ok = field(one, name[i+1:]); ok {
				return one, true
			}
		}
	}
	return nil, false
}

// cutFields takes the fields that fit, the short ones first.
func (a *answer) cutFields(fields map[string]json.RawMessage) {
	a.Fields = map[string]json.RawMessage{}
	byLength := slices.SortedFunc(maps.Keys(fields), func(x, y string) int {
		return cmp.Or(cmp.Compare(len(fields[x]), len(fields[y])), cmp.Compare(x, y))
	})
	names, unnamed := namesBytes, 0
	for _, name := range byLength {
		of := sent(encode(name)) + 2
		switch need := of + sent(fields[name]); {
		case need <= a.room:
			a.Fields[name] = fields[name]
			a.room -= need
		case of <= names:
			a.LeftOut = append(a.LeftOut, name)
			names -= of
		default:
			unnamed++
		}
	}
	switch {
	case len(fields) == 1 && len(a.Fields) == 0:
		a.LeftOut, a.More = nil, "the field is larger than an answer"
	case unnamed > 0:
		a.More = text.PluralExact(unnamed, "further field has", "further fields have") + " no room"
	}
}

// cutRows takes the rows that fit.
func (a *answer) cutRows(rows []json.RawMessage, p paging) {
	limit := cmp.Or(p.Limit, defaultRows)
	a.Total, a.Offset, a.Rows = len(rows), min(p.Offset, len(rows)), []json.RawMessage{}
	for _, r := range rows[a.Offset:] {
		need := sent(r) + 1
		if len(a.Rows) == limit || need > a.room {
			break
		}
		a.room -= need
		a.Rows = append(a.Rows, r)
	}
	switch next := a.Offset + len(a.Rows); {
	case next == len(rows):
	case len(a.Rows) == 0:
		a.More = fmt.Sprintf("the row at %d is larger than an answer; offset %d skips it", a.Offset, a.Offset+1)
	default:
		a.More = fmt.Sprintf("%d more; offset %d continues", len(rows)-next, next)
	}
}
