package archtest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const dependenciesPage = "../../docs/internals/dependencies.md"

// testPlace in the page's second column allows use by tests.
const testPlace = "tests"

// testOnly are packages that only tests import.
var testOnly = []string{"internal/testbrowser", "internal/testjvm", "internal/testnats", "internal/testobjects", "e2e", "deploy"}

// dependency is a row of the page.
type dependency struct {
	module string
	places []string // packages and patterns, or testPlace
}

// use is an import of a module.
type use struct {
	module, pkg string
	test        bool
}

var code = regexp.MustCompile("`([^`]+)`")

// readPage parses the first table of the page.
func readPage(page string) (all []dependency) {
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		d := dependency{module: strings.Trim(strings.TrimSpace(cells[1]), "`")}
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			d.places = append(d.places, m[1])
		}
		if strings.Contains(cells[2], testPlace) {
			d.places = append(d.places, testPlace)
		}
		all = append(all, d)
	}
	return all
}

// allows reports whether a place of the row covers u.
func (d dependency) allows(place string, u use) bool {
	if u.module != d.module {
		return false
	}
	if place == testPlace {
		return u.test
	}
	return !u.test && covers(place, u.pkg)
}

// checkPage compares the page with the direct dependencies and their uses.
func checkPage(page []dependency, modules []string, uses []use) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, m := range modules {
		if !slices.ContainsFunc(page, func(d dependency) bool { return d.module == m }) {
			say("%s is not listed", m)
		}
	}
	for _, d := range page {
		if !slices.Contains(modules, d.module) {
			say("%s is listed, but no direct dependency", d.module)
		}
		for _, place := range d.places {
			if !slices.ContainsFunc(uses, func(u use) bool { return d.allows(place, u) }) {
				say("%s is not used in %s", d.module, place)
			}
		}
	}
	for _, u := range uses {
		allowed := slices.ContainsFunc(page, func(d dependency) bool {
			return slices.ContainsFunc(d.places, func(place string) bool { return d.allows(place, u) })
		})
		if !allowed {
			say("%s uses %s, which is not listed (test: %v)", u.pkg, u.module, u.test)
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

func TestDependenciesPage(t *testing.T) {
	page, err := os.ReadFile(dependenciesPage)
	if err != nil {
		t.Fatal(err)
	}
	modules := directModules(t)
	for _, wrong := range checkPage(readPage(string(page)), modules, usesOf(list(t), modules)) {
		t.Errorf("docs/internals/dependencies.md: %s", wrong)
	}
}

// directModules are the requirements in go.mod without "// indirect".
func directModules(t *testing.T) (modules []string) {
	t.Helper()
	out, err := exec.Command("go", "mod", "edit", "-json").Output()
	if err != nil {
		t.Fatalf("go mod edit: %v", err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			modules = append(modules, r.Path)
		}
	}
	return modules
}

func usesOf(packages []pkg, modules []string) (uses []use) {
	for _, p := range packages {
		onlyTests := slices.Contains(testOnly, p.short())
		add := func(imports []string, test bool) {
			for _, imp := range imports {
				for _, m := range modules {
					if covers(m+"/...", imp) {
						uses = append(uses, use{m, p.short(), test || onlyTests})
					}
				}
			}
		}
		add(p.Imports, false)
		add(p.TestImports, true)
		add(p.XTestImports, true)
	}
	return uses
}

// pinned are modules without releases. A newer revision is taken on purpose only.
var pinned = map[string]string{
	"github.com/elastic/go-perf": "v0.0.0-20241029065020-30bec95324b8",
	"github.com/google/pprof":    "v0.0.0-20260906184651-6331bc6350fe",
}

func TestPins(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for module, version := range pinned {
		if !strings.Contains(string(mod), "\t"+module+" "+version+"\n") {
			t.Errorf("go.mod does not require %s at its pin %s", module, version)
		}
	}
}

func TestPageCheckFindsWhatIsWrong(t *testing.T) {
	const page = "| module | used in | why |\n|---|---|---|\n| `x.org/a` | `p`, `q/...`, tests | because |\n"
	uses := []use{{"x.org/a", "p", false}, {"x.org/a", "q/r", false}, {"x.org/a", "s", true}}
	if wrong := checkPage(readPage(page), []string{"x.org/a"}, uses); wrong != nil {
		t.Errorf("a page that is right: %q", wrong)
	}
	for name, c := range map[string]struct {
		modules []string
		uses    []use
		want    string
	}{
		"unlisted module": {[]string{"x.org/a", "x.org/b"}, uses, "x.org/b is not listed"},
		"no dependency":   {nil, uses, "no direct dependency"},
		"unused place":    {[]string{"x.org/a"}, slices.Concat(uses[:1], uses[2:]), "not used in q/..."},
		"unused by tests": {[]string{"x.org/a"}, uses[:2], "not used in tests"},
		"unlisted use":    {[]string{"x.org/a"}, append(slices.Clone(uses), use{"x.org/a", "z", false}), "z uses x.org/a"},
	} {
		if wrong := checkPage(readPage(page), c.modules, c.uses); len(wrong) != 1 || !strings.Contains(wrong[0], c.want) {
			t.Errorf("%s: %q, want %q", name, wrong, c.want)
		}
	}
}
