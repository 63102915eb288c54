package access

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `
proxy:
  header: X-Forwarded-User
  groups_header: X-Forwarded-Groups
  from: [10.1.0.0/16, "::1", 192.0.2.7]
rules:
  - users: [ann@example.com]
    services: ["*"]
    role: admin
  - groups: [shop]
    services: ["shop-*", pay]
    role: viewer
  - groups: [shop-leads]
    services: ["shop-web"]
    role: admin
`

func TestRights(t *testing.T) {
	p, err := Parse([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		user         User
		sees, change string // of shop-web, shop-db, pay, other and none
		all          bool
	}{
		{User{Name: "ann@example.com"}, "11111", "11111", true},
		{User{Name: "bob", Groups: []string{"shop"}}, "11100", "00000", false},
		{User{Name: "eve", Groups: []string{"shop-leads", "shop"}}, "11100", "10000", false},
		{User{Name: "bob"}, "00000", "00000", false},
		{User{Name: "shop"}, "00000", "00000", false}, // a user is no group
		{User{Groups: []string{"ann@example.com"}}, "00000", "00000", false},
		{User{}, "00000", "00000", false},
	} {
		r := p.Of(c.user)
		sees, change := "", ""
		for _, service := range []string{"shop-web", "shop-db", "pay", "other", ""} {
			sees += map[bool]string{true: "1", false: "0"}[r.Sees(service)]
			change += map[bool]string{true: "1", false: "0"}[r.Changes(service)]
		}
		if sees != c.sees || change != c.change || r.All() != c.all || r.None() != (sees == "00000") || r.Who != c.user.Name {
			t.Errorf("%+v: sees %s, changes %s, %+v", c.user, sees, change, r)
		}
	}
	for address, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "::1": true, "127.0.0.1": false, "192.0.2.7": true, "192.0.2.8": false} {
		if got := p.Proxy.Trusts(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

// A mistake in the file never opens anything: the shadow does not start.
func TestWrongFiles(t *testing.T) {
	for _, c := range []struct{ from, to, says string }{
		{"role: viewer", "role: root", "rule 2: role: want viewer or admin"},
		{"    role: viewer\n", "", "rule 2: role: want"},
		{`"shop-*"`, `"["`, "is not a glob"},
		{`"shop-*"`, `""`, "is not a glob"},
		{"groups: [shop]", "grops: [shop]", "grops"},
		{"groups: [shop]", "groups: []", "rule 2: it needs users or groups"},
		{"groups: [shop]", `groups: [""]`, "has no name"},
		{"10.1.0.0/16", "10.1.0.0/99", "neither an address nor a network"},
		{"  from: [10.1.0.0/16, \"::1\", 192.0.2.7]\n", "", "name the addresses of the proxies"},
		{"header: X-Forwarded-User", "header: 'X Y'", "want the name of a header"},
		{"rules:", "---\nrules:", "second document"},
		{good, "", "it is empty"},
		{good, "rules:\n  - {users: [a], services: [a], role: admin}", "nobody can sign in"},
		{good[strings.Index(good, "rules"):], "", "nobody may see anything"},
		{good, strings.Repeat("#", maxFile+1), "larger than"},
		{good, "oidc: {issuer: x}\n" + good, `line 1: there is no key "oidc" here`},
	} {
		text := strings.Replace(good, c.from, c.to, 1)
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "access.") {
			t.Errorf("%q in place of %.30q: %v, want %q", c.to[:min(30, len(c.to))], c.from, err, c.says)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file")
	}
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, []byte(good), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	f.Add([]byte("rules: [{users: [a], services: ['*'], role: admin}]\nproxy: {header: X, from: ['::/0']}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q: more than a line: %q", data, err)
			}
			return
		}
		if r := p.Of(User{}); !r.None() {
			t.Errorf("%q: who is nobody sees %v", data, r.see)
		}
	})
}

// The files that the documentation shows are valid.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/access.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(page), "```yaml\n")[1:]
	for _, block := range blocks {
		file, _, _ := strings.Cut(block, "```")
		if _, err := Parse([]byte(file)); err != nil {
			t.Errorf("%v in\n%s", err, file)
		}
	}
	if len(blocks) != 2 {
		t.Errorf("%d files, want 2", len(blocks))
	}
}
