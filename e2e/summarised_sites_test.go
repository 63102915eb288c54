package e2e_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// What the program of testdata/callsites does.
const (
	siteTasks   = 200_000
	siteVirtual = 20_000
)

// siteCounts is what happened at a call site.
type siteCounts struct{ Created, Submitted, Executions int64 }

// TestSitesOfSummarisedTasks: the call sites that make and submit tasks have the
// known counts, whether the tasks are recorded or summarised.
func TestSitesOfSummarisedTasks(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "e2e", "testdata", "callsites")
	at := sitesMarked(t, filepath.Join(folder, "Main.java"))
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			virtual := int64(0)
			if jdk.Version >= 21 {
				virtual = siteVirtual
			}
			want := map[string]siteCounts{
				at("left"): {Created: siteTasks + virtual}, at("right"): {Created: siteTasks/2 + siteTasks/4},
				at("always"): {Submitted: siteTasks}, at("second"): {Submitted: siteTasks / 2}, at("fourth"): {Submitted: siteTasks / 4},
				at("fifth"): {Created: siteTasks / 5, Submitted: siteTasks / 5, Executions: siteTasks / 5},
			}
			if virtual > 0 {
				want[at("virtual")] = siteCounts{Submitted: virtual}
			}
			dir := testjvm.Compile(t, jdk, folder)
			for _, detail := range []string{"auto", "summary", "all"} {
				t.Run(detail, func(t *testing.T) {
					cmd := testjvm.Command{JDK: jdk, Classpath: dir, Main: "Main", Agent: []string{"--detail", detail}}
					p := cmd.Session(t)
					if p.Exit != 0 {
						t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
					}
					checkSites(t, p, want, at("fifth"), siteTasks+siteTasks/2+siteTasks/4+virtual)
					checkFutures(t, p, at("fourth"))
					checkSiteSums(t, p.Dir, detail)
				})
			}
		})
	}
}

// sitesMarked finds the sites that the source marks by a comment.
func sitesMarked(t *testing.T, source string) func(mark string) string {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]string{"left": "left", "right": "right"}
	return func(mark string) string {
		for i, line := range strings.Split(string(text), "\n") {
			if strings.HasSuffix(line, "// "+mark) {
				method := methods[mark]
				if method == "" {
					method = "main"
				}
				return "Main." + method + ":" + strconv.Itoa(i+1)
			}
		}
		t.Fatalf("%s has no mark %q", source, mark)
		return ""
	}
}

// listedSites is the listing by site of the classes that match.
func listedSites(t *testing.T, p testjvm.Profile, class string) map[string]siteCounts {
	t.Helper()
	var rows []struct {
		Site       string `json:"site"`
		Created    int64  `json:"created"`
		Submitted  int64  `json:"handed_over"`
		Executions int64  `json:"executions"`
	}
	out := p.Shadow(t, "hotspots", p.Dir, "--by", "site", "--format", "json", "--class", class)
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v in\n%.2000s", err, out)
	}
	got := map[string]siteCounts{}
	for _, r := range rows {
		got[r.Site] = siteCounts{r.Created, r.Submitted, r.Executions}
	}
	return got
}

// checkSites holds the counts of the program's classes against the known ones.
// The executions of a class with one site are listed there; those of Main$Job, which
// has several, may be listed with any of them, but must all be listed.
func checkSites(t *testing.T, p testjvm.Profile, want map[string]siteCounts, single string, jobs int64) {
	t.Helper()
	got := listedSites(t, p, "Main*")
	executions := int64(0)
	for site, x := range got {
		executions += x.Executions
		w := want[site]
		if x.Created != w.Created || x.Submitted != w.Submitted {
			t.Errorf("%s: %d made and %d submitted, want %d and %d", site, x.Created, x.Submitted, w.Created, w.Submitted)
		}
	}
	for site := range maps.Keys(want) {
		if _, ok := got[site]; !ok {
			t.Errorf("%s is not listed", site)
		}
	}
	if n := got[single].Executions; n != want[single].Executions {
		t.Errorf("%d executions at %s, want %d", n, single, want[single].Executions)
	}
	if want := jobs + want[single].Executions; executions != want {
		t.Errorf("%d executions at all sites, want %d", executions, want)
	}
}

// checkFutures: what a library makes for a submission has the site of the submission, also
// where its executions are summarised.
func checkFutures(t *testing.T, p testjvm.Profile, site string) {
	t.Helper()
	got := listedSites(t, p, "java.util.concurrent.FutureTask")
	want := map[string]siteCounts{site: {Created: siteTasks / 4, Executions: siteTasks / 4}}
	if !maps.Equal(got, want) {
		t.Errorf("FutureTask: %+v, want %+v", got, want)
	}
}

// checkSiteSums compares the sums by site with those by class: no event is missing, and
// none is counted twice.
func checkSiteSums(t *testing.T, dir, detail string) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	sums, err := s.SiteSums()
	if err != nil {
		t.Fatal(err)
	}
	type account struct{ creations, submissions, inner, rejected uint64 }
	got, want := map[uint32]account{}, map[uint32]account{}
	for _, x := range sums {
		a := got[x.Class]
		switch x.Kind {
		case wire.SiteCreation, wire.SitePart:
			a.creations += x.Count
		case wire.SiteInner:
			a.inner += x.Count
			a.submissions += x.Count
		case wire.SiteSubmission:
			a.submissions += x.Count
		default:
			a.rejected += x.Count
		}
		got[x.Class] = a
	}
	err = s.Summaries(func(x *session.Summary) error {
		a := want[x.Class]
		a.creations, a.submissions, a.inner, a.rejected = a.creations+x.Creations, a.submissions+x.Submissions, a.inner+x.Inner, a.rejected+x.Rejected
		if a != (account{}) {
			want[x.Class] = a
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, want) {
		t.Errorf("by site %+v, by class %+v", got, want)
	}
	if (len(got) == 0) != (detail == "all") {
		t.Errorf("%d classes have sums by site", len(got))
	}
}
