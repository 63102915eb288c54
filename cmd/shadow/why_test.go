package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

func TestWhy(t *testing.T) {
	dir := recorded(t)
	code, out, errs := shadow(t, nil, "why", dir)
	if code != 0 || !strings.Contains(out, "\nmain#1: 1 unit") || !strings.Contains(out, "computes") || !strings.Contains(out, "It is not known what") {
		t.Fatalf("code %d\n%s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, "why", dir, "--format", "json")
	var a account.Session
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil || len(a.Classes) == 0 {
		t.Fatalf("code %d, %v\n%s%s", code, err, out, errs)
	}
	for _, c := range a.Classes {
		sum, draws := units.Ns(0), 0.0
		for _, p := range c.Parts {
			sum += p.Ns
		}
		for _, x := range c.Chains {
			draws += x.Share
		}
		if sum != c.ResponseNs || c.ResponseNs > 0 && (draws < 0.999 || draws > 1.001) {
			t.Errorf("%s: parts %d, response %d, chains %.3f", c.Name, sum, c.ResponseNs, draws)
		}
	}
	code, out, _ = shadow(t, nil, "why", dir, "--class", "main*", "--format", "json")
	a = account.Session{}
	if err := json.Unmarshal([]byte(out), &a); code != 0 || err != nil || len(a.Classes) != 1 {
		t.Errorf("--class: code %d, %v, %d classes", code, err, len(a.Classes))
	}
	if code, _, errs := shadow(t, nil, "why", dir, "--class", "["); code != 2 || !strings.Contains(errs, "--class [") {
		t.Errorf("a wrong glob: code %d\n%s", code, errs)
	}
}
