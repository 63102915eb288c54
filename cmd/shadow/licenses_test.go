package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLicenses(t *testing.T) {
	code, out, errs := shadow(t, nil, "licenses", "--format", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var rows []struct {
		Module, Version, Licences string
		LinkedInto                string `json:"linked_into"`
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	inAgent := map[string]bool{}
	for _, r := range rows {
		if r.Module == "" || r.Version == "" || r.Licences == "" || !strings.Contains(r.LinkedInto, "shadow") {
			t.Errorf("row %+v", r)
		}
		inAgent[r.Module] = strings.Contains(r.LinkedInto, "libstackagent.so")
	}
	for module, want := range map[string]bool{"github.com/nats-io/nats.go": true, "github.com/nats-io/nats-server/v2": false, "github.com/golang/freetype": false} {
		if got, listed := inAgent[module]; !listed || got != want {
			t.Errorf("%s: listed %v, in the agent %v", module, listed, got)
		}
	}
	if code, out, _ := shadow(t, nil, "licenses"); code != 0 || strings.Count(out, "\n") < len(rows) {
		t.Errorf("the table has %d lines for %d modules", strings.Count(out, "\n"), len(rows))
	}
	code, out, _ = shadow(t, nil, "licenses", "--full")
	for _, text := range []string{"The FreeType Project", "SIL OPEN FONT LICENSE", "Apache License", "github.com/spf13/cobra: LICENSE.txt"} {
		if code != 0 || !strings.Contains(out, text) {
			t.Errorf("--full has no %q", text)
		}
	}
}
