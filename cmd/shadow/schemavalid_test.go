package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/docs/schema"
)

// validators are the published schemas, compiled by a library that did not write them.
var validators sync.Map

func validator(verb string) (*jsonschema.Schema, error) {
	if v, ok := validators.Load(verb); ok {
		return v.(*jsonschema.Schema), nil
	}
	text, ok := schema.Of(verb)
	if !ok {
		return nil, errors.New("it has no schema")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource(schema.File(verb), doc); err != nil {
		return nil, err
	}
	v, err := c.Compile(schema.File(verb))
	if err == nil {
		validators.Store(verb, v)
	}
	return v, err
}

// valid checks JSON that a verb printed against its published schema.
func valid(verb, out string) error {
	v, err := validator(verb)
	if err != nil {
		return err
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.UseNumber()
	for d.More() {
		var doc any
		if err := d.Decode(&doc); err != nil {
			return err
		}
		if err := v.Validate(doc); err != nil {
			return err
		}
	}
	return nil
}

// checkPrinted checks what any test of this package makes a verb print: if it is JSON, its schema allows it.
func checkPrinted(t *testing.T, args []string, code int, out string) {
	t.Helper()
	if code != 0 || !slices.Contains(args, "json") {
		return
	}
	cmd, _, err := newRoot(console.System()).Find(args)
	if err != nil {
		return
	}
	verb := strings.TrimPrefix(cmd.CommandPath(), "shadow ")
	if cmd.ParseFlags(args) != nil || cmd.Flags().Lookup("format") == nil || cmd.Flag("format").Value.String() != "json" {
		return
	}
	if f := cmd.Flag("output"); f != nil && f.Changed {
		return // into a file
	}
	if err := valid(verb, out); err != nil {
		t.Errorf("%s: docs/schema does not allow what it printed: %v", strings.Join(args, " "), err)
	}
}

// TestSchemasRefuse: a field that is missing, one too many, a word for a number and NaN are found.
func TestSchemasRefuse(t *testing.T) {
	const right = `{"recorded_ns": 1, "replayed_ns": 2, "predicted_ns": null, "gain": 0.5, "replay_error": 0}`
	if err := valid("whatif", right); err != nil {
		t.Errorf("refused: %v", err)
	}
	for what, wrong := range map[string]string{
		"missing": strings.Replace(right, `"gain": 0.5, `, "", 1), "more": strings.Replace(right, `{`, `{"more": 1, `, 1),
		"word": strings.Replace(right, "0.5", `"0.5"`, 1), "NaN": strings.Replace(right, "0.5", "NaN", 1),
		"null": strings.Replace(right, `"recorded_ns": 1`, `"recorded_ns": null`, 1), "half": strings.Replace(right, `"recorded_ns": 1`, `"recorded_ns": 1.5`, 1),
		"list": "[" + right + "]",
	} {
		if valid("whatif", wrong) == nil {
			t.Errorf("%s is allowed: %s", what, wrong)
		}
	}
}

// TestSchemaVerb: each verb that is listed has a schema, and nothing else has.
func TestSchemaVerb(t *testing.T) {
	code, out, errs := shadow(t, nil, "schema", "--list")
	if code != 0 || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	verbs := strings.Fields(strings.ReplaceAll(out, " ", "_"))
	if len(verbs) < 20 || !slices.Contains(verbs, "tgp_fine") {
		t.Errorf("verbs: %v", verbs)
	}
	for _, v := range verbs {
		args := append([]string{"schema"}, strings.Split(v, "_")...)
		if code, out, errs := shadow(t, nil, args...); code != 0 || !json.Valid([]byte(out)) {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"schema"}, {"schema", "run"}, {"schema", "../stats"}, {"schema", "stats", "--list"}} {
		if code, _, _ := shadow(t, nil, args...); code != console.ExitUsage {
			t.Errorf("%v: exit code %d", args, code)
		}
	}
}
