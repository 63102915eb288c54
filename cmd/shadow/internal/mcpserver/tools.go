package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type ofSession struct {
	Session string `json:"session,omitempty" jsonschema:"name of the session, as the tool sessions lists it; the newest by default"`
	paging
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
		func(ctx context.Context, in paging) (*mcp.CallToolResult, any, error) {
			if err := in.check(); err != nil {
				return nil, nil, err
			}
			list, err := h.list(ctx)
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
		func(ctx context.Context, in ofSession) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in, "stats")
		})
	add(s, "findings", "What limits the program and what to change, with evidence and the predicted gain.", nil,
		func(ctx context.Context, in ofSession) (*mcp.CallToolResult, any, error) {
			in.Field = "findings"
			return h.of(ctx, in, "stats", "--units")
		})
	add(s, "hotspots", "Which tasks hold the work.",
		map[string][]any{"by": words("class", "site", "executor", "thread"), "sort": words("work", "self", "wall", "cpu", "count", "mean", "p99", "max", "never", "threw", "queue")},
		func(ctx context.Context, in hotspotsIn) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in.ofSession, "hotspots", "--by", cmp.Or(in.By, "class"), "--sort", cmp.Or(in.Sort, "work"))
		})
	add(s, "waits", "What tasks and threads waited for: locks, queues, input and output, CPUs.", map[string][]any{"by": words("class", "site", "unit", "thread", "wait")},
		func(ctx context.Context, in waitsIn) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in.ofSession, "waits", "--by", cmp.Or(in.By, "class"))
		})
	add(s, "diff", "Compares two builds; with two or more runs on each side it says what is different.", map[string][]any{"by": words("class", "executor", "site", "thread", "wait", "path", "all")}, h.diff)
	add(s, "explain", "What changed with the throughput, or with another metric, ranked. The session needs monitors.", nil,
		func(ctx context.Context, in explainIn) (*mcp.CallToolResult, any, error) {
			return h.of(ctx, in.ofSession, "vertical", "--explain="+cmp.Or(in.Metric, "task_throughput"))
		})
}

// add adds a tool that reads only.
func add[In any](s *mcp.Server, name, what string, enums map[string][]any, f func(context.Context, In) (*mcp.CallToolResult, any, error)) {
	no := false
	mcp.AddTool(s, &mcp.Tool{Name: name, Description: what + " " + strings.TrimSpace(unitsText), InputSchema: schemaOf[In](enums),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: &no, OpenWorldHint: &no}},
		func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
			return f(ctx, in)
		})
}

// of asks about one session.
func (h *handler) of(ctx context.Context, in ofSession, args ...string) (*mcp.CallToolResult, any, error) {
	dir, note, err := h.chosen(ctx, in.Session)
	if err != nil {
		return nil, nil, err
	}
	return h.ask(ctx, in.paging, note, append([]string{args[0], dir}, args[1:]...)...)
}

func (h *handler) diff(ctx context.Context, in diffIn) (*mcp.CallToolResult, any, error) {
	const most = 32
	if err := in.check(); err != nil {
		return nil, nil, err
	}
	if len(in.A) == 0 || len(in.B) == 0 || len(in.A)+len(in.B) > most {
		return nil, nil, h.hidden("name 1 to 16 sessions for each side")
	}
	args := []string{"diff", "--by", cmp.Or(in.By, "class"), "--format", "json"}
	for i, side := range [][]string{in.A, in.B} {
		if i == 1 {
			args = append(args, "--")
		}
		for _, name := range side {
			dir, err := h.folder(name)
			if err != nil {
				return nil, nil, err
			}
			args = append(args, dir)
		}
	}
	out, notes, err := h.verb(ctx, args...)
	if err != nil {
		return nil, nil, h.hidden(err.Error())
	}
	all, err := compact(out)
	if err != nil {
		return nil, nil, err
	}
	a := answerOf(h.clean(notes))
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
