package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"stackagent/cmd/shadow/internal/console"
)

type ofSession struct {
	Session string `json:"session,omitempty" jsonschema:"name of the session, as the tool sessions lists it; the newest by default"`
	paging
}

type whyIn struct {
	ofSession
	Class string `json:"class,omitempty" jsonschema:"only classes that match this glob"`
	From  string `json:"from,omitempty" jsonschema:"begin of a part of the session, as a time since its start such as 2s"`
	To    string `json:"to,omitempty" jsonschema:"end of the part"`
}

type hotspotsIn struct {
	ofSession
	By   string `json:"by,omitempty" jsonschema:"what a row stands for; class by default"`
	Sort string `json:"sort,omitempty" jsonschema:"greatest first by this; work by default"`
}

type waitsIn struct {
	ofSession
	By string `json:"by,omitempty" jsonschema:"what a row stands for; class by default: what was waited for"`
}

type diffIn struct {
	A  []string `json:"a" jsonschema:"names of the sessions of the one side: repeated runs of one build"`
	B  []string `json:"b" jsonschema:"names of the sessions of the other side"`
	By string   `json:"by,omitempty" jsonschema:"what a row stands for; class by default"`
	paging
}

type explainIn struct {
	ofSession
	Metric string `json:"metric,omitempty" jsonschema:"METRIC or METRIC@FROM..TO, with times since the start such as 2s; task_throughput by default"`
}

func words(list ...string) (out []any) {
	for _, w := range list {
		out = append(out, w)
	}
	return out
}

func (h *handler) addTools(s *mcp.Server) {
	add(s, "sessions", "The sessions of the store, the newest first, with program, duration and labels.", nil,
		func(in paging) (*mcp.CallToolResult, any, error) {
			if err := in.check(); err != nil {
				return nil, nil, err
			}
			list, err := h.list()
			if err != nil {
				return nil, nil, err
			}
			rows := make([]json.RawMessage, len(list))
			for i, l := range list {
				rows[i] = l.row
			}
			a := answerOf("")
			a.cutRows(rows, in)
			return a.result()
		})
	add(s, "stats", "The summary of a session: tasks, threads, collections, what was lost, distributions of times.", nil,
		func(in ofSession) (*mcp.CallToolResult, any, error) {
			return h.of(in, func(env console.Env, dir string) (any, error) { return h.verbs.Stats(env, dir, false) })
		})
	add(s, "findings", "What limits the program and what to change, with evidence and the predicted gain.", nil,
		func(in ofSession) (*mcp.CallToolResult, any, error) {
			in.Field = "findings"
			return h.of(in, func(env console.Env, dir string) (any, error) { return h.verbs.Stats(env, dir, true) })
		})
	add(s, "why", "What the response times of each class went to and what that depends on: obstacles with what to do, parts that add up, chains of causes. Begin with the fields obstacles and bound.",
		nil, func(in whyIn) (*mcp.CallToolResult, any, error) {
			return h.of(in.ofSession, func(env console.Env, dir string) (any, error) { return h.verbs.Why(env, dir, in.Class, in.From, in.To) })
		})
	add(s, "hotspots", "Which tasks hold the work.",
		map[string][]any{"by": words("class", "site", "executor", "thread"), "sort": words("work", "self", "wall", "cpu", "count", "mean", "p99", "max", "never", "threw", "queue")},
		func(in hotspotsIn) (*mcp.CallToolResult, any, error) {
			return h.of(in.ofSession, func(env console.Env, dir string) (any, error) {
				return h.verbs.Hotspots(env, dir, cmp.Or(in.By, "class"), cmp.Or(in.Sort, "work"))
			})
		})
	add(s, "waits", "What tasks and threads waited for: locks, queues, input and output, CPUs.", map[string][]any{"by": words("class", "site", "unit", "thread", "wait")},
		func(in waitsIn) (*mcp.CallToolResult, any, error) {
			return h.of(in.ofSession, func(env console.Env, dir string) (any, error) {
				return h.verbs.Waits(env, dir, cmp.Or(in.By, "class"))
			})
		})
	add(s, "diff", "Compares two builds; with two or more runs on each side it says what is different.", map[string][]any{"by": words("class", "executor", "site", "thread", "wait", "path", "cause", "all")}, h.diff)
	add(s, "explain", "What changed with the throughput, or with another metric, ranked. The session needs monitors.", nil,
		func(in explainIn) (*mcp.CallToolResult, any, error) {
			return h.of(in.ofSession, func(env console.Env, dir string) (any, error) {
				return h.verbs.Explain(env, dir, cmp.Or(in.Metric, "task_throughput"))
			})
		})
}

// add adds a tool that reads only.
func add[In any](s *mcp.Server, name, what string, enums map[string][]any, f func(In) (*mcp.CallToolResult, any, error)) {
	no := false
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: what + " " + strings.TrimSpace(unitsText), InputSchema: schemaOf[In](enums),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}},
		func(_ context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			return f(in)
		})
}

// of asks about one session.
func (h *handler) of(in ofSession, verb func(env console.Env, dir string) (any, error)) (*mcp.CallToolResult, any, error) {
	dir, note, err := h.chosen(in.Session)
	if err != nil {
		return nil, nil, err
	}
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	doc, notes, err := h.ask(func(env console.Env) (any, error) { return verb(env, dir) })
	if err != nil {
		return nil, nil, err
	}
	a := answerOf(strings.TrimSpace(note + "\n" + notes))
	if err := a.cut(doc, in.paging); err != nil {
		return nil, nil, err
	}
	return a.result()
}

func (h *handler) diff(in diffIn) (*mcp.CallToolResult, any, error) {
	const most = 32
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	if len(in.A) == 0 || len(in.B) == 0 || len(in.A)+len(in.B) > most {
		return nil, nil, h.hidden("name 1 to 16 sessions for each side")
	}
	var dirs [2][]string
	for i, side := range [][]string{in.A, in.B} {
		for _, name := range side {
			dir, err := h.folder(name)
			if err != nil {
				return nil, nil, err
			}
			dirs[i] = append(dirs[i], dir)
		}
	}
	all, notes, err := h.ask(func(env console.Env) (any, error) {
		return h.verbs.Diff(env, dirs[0], dirs[1], cmp.Or(in.By, "class"))
	})
	if err != nil {
		return nil, nil, err
	}
	a := answerOf(notes)
	if in.Field != "" && in.Field != "rows" {
		if err := a.cut(all, in.paging); err != nil {
			return nil, nil, err
		}
		return a.result()
	}
	var doc map[string]json.RawMessage
	var rows []json.RawMessage
	if err := errors.Join(json.Unmarshal(all, &doc), json.Unmarshal(doc["rows"], &rows)); err != nil {
		return nil, nil, fmt.Errorf("reading the answer: %w", err)
	}
	delete(doc, "rows")
	half := a.room / 2 // at most this for the head
	a.room -= half
	a.cutFields(doc)
	a.room += half
	a.cutRows(rows, in.paging)
	return a.result()
}
