package browser_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// axe is the script that finds what keeps people from using a page.
var axe = sync.OnceValues(func() ([]byte, error) {
	return os.ReadFile(filepath.Join("..", "..", "shadow", "show", "page", "front", "node_modules", "axe-core", "axe.min.js"))
})

// violation is a rule that elements of the page break.
type violation struct {
	ID     string   `json:"id"`
	Impact string   `json:"impact"`
	Help   string   `json:"help"`
	Nodes  []string `json:"nodes"`
}

// violations runs axe on what the page shows.
func (t tab) violations() []violation {
	t.Helper()
	script, err := axe()
	if err != nil {
		t.Fatalf("%v: run make page first", err)
	}
	t.must(t.Script("window.axe || (() => {" + string(script) + "})()"))
	return eval[[]violation](t, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => ({
		id: v.id, impact: v.impact, help: v.help,
		nodes: v.nodes.slice(0, 5).map(n => n.html.slice(0, 300) + " " + n.any.concat(n.all, n.none).map(c => c.message).join("; ")),
	})))`)
}

// accessible fails on what axe calls serious or critical, and notes the rest.
func (t tab) accessible(what string) {
	t.Helper()
	for _, v := range t.violations() {
		say := t.Logf
		if v.Impact == "serious" || v.Impact == "critical" {
			say = t.Errorf
		}
		say("%s: axe, %s: %s (%s)\n\t%s", what, v.Impact, v.Help, v.ID, strings.Join(v.Nodes, "\n\t"))
	}
}

// TestAxeFinds: what the other tests rely on.
func TestAxeFinds(t *testing.T) {
	b := blank(t, laptop)
	b.must(b.Go("data:text/html,<!doctype html><html><body><button></button><p style='color:%23ddd;background:%23fff'>pale"))
	found := map[string]string{}
	for _, v := range b.violations() {
		found[v.ID] = v.Impact
	}
	if found["button-name"] != "critical" || found["color-contrast"] != "serious" {
		t.Errorf("axe found %v", found)
	}
}
