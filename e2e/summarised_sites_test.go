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

// What the program of testdata/places does.
const (
	placesTasks   = 200_000
	placesVirtual = 20_000
)

// atPlace is what happened at a place.
type atPlace struct{ Created, HandedOver, Executions int64 }

// TestPlacesOfSummarisedTasks: the places that make and hand over tasks tell the
// same known counts whether the tasks are recorded or only counted.
func TestPlacesOfSummarisedTasks(t *testing.T) {
	testjvm.Shared(t)
	folder := filepath.Join(testjvm.Root(t), "e2e", "testdata", "places")
	at := placesMarked(t, filepath.Join(folder, "Main.java"))
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			virtual := int64(0)
			if jdk.Version >= 21 {
				virtual = placesVirtual
			}
			want := map[string]atPlace{
				at("left"): {Created: placesTasks + virtual}, at("right"): {Created: placesTasks/2 + placesTasks/4},
				at("always"): {HandedOver: placesTasks}, at("second"): {HandedOver: placesTasks / 2}, at("fourth"): {HandedOver: placesTasks / 4},
				at("fifth"): {Created: placesTasks / 5, HandedOver: placesTasks / 5, Executions: placesTasks / 5},
			}
			if virtual > 0 {
				want[at("virtual")] = atPlace{HandedOver: virtual}
			}
			dir := testjvm.Compile(t, jdk, folder)
			for _, detail := range []string{"auto", "summary", "all"} {
				t.Run(detail, func(t *testing.T) {
					cmd := testjvm.Command{JDK: jdk, Classpath: dir, Main: "Main", Agent: []string{"--detail", detail}}
					p := cmd.Profile(t)
					if p.Exit != 0 {
						t.Fatalf("the program ended with %d\n%s", p.Exit, p.Stderr)
					}
					checkPlaces(t, p, want, at("fifth"), placesTasks+placesTasks/2+placesTasks/4+virtual)
					checkFutures(t, p, at("fourth"))
					checkSiteSums(t, p.Dir, detail)
				})
			}
		})
	}
}

// placesMarked finds the places that the source marks by a comment.
func placesMarked(t *testing.T, source string) func(mark string) string {
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

// listedPlaces is what the listing by site tells of classes like the given.
func listedPlaces(t *testing.T, p testjvm.Profile, class string) map[string]atPlace {
	t.Helper()
	var rows []struct {
		Site       string `json:"site"`
		Created    int64  `json:"created"`
		HandedOver int64  `json:"handed_over"`
		Executions int64  `json:"executions"`
	}
	out := p.Shadow(t, "hotspots", p.Dir, "--by", "site", "--format", "json", "--class", class)
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v in\n%.2000s", err, out)
	}
	got := map[string]atPlace{}
	for _, r := range rows {
		got[r.Site] = atPlace{r.Created, r.HandedOver, r.Executions}
	}
	return got
}

// checkPlaces holds the counts of the program's classes against the known ones.
// The executions of a class with one place stand there; those of Main$Job, which
// has several, may stand with any, but must all be there.
func checkPlaces(t *testing.T, p testjvm.Profile, want map[string]atPlace, single string, jobs int64) {
	t.Helper()
	got := listedPlaces(t, p, "Main*")
	executions := int64(0)
	for place, x := range got {
		executions += x.Executions
		w := want[place]
		if x.Created != w.Created || x.HandedOver != w.HandedOver {
			t.Errorf("%s: %d made and %d handed over, want %d and %d", place, x.Created, x.HandedOver, w.Created, w.HandedOver)
		}
	}
	for place := range maps.Keys(want) {
		if _, ok := got[place]; !ok {
			t.Errorf("%s is not listed", place)
		}
	}
	if n := got[single].Executions; n != want[single].Executions {
		t.Errorf("%d executions at %s, want %d", n, single, want[single].Executions)
	}
	if want := jobs + want[single].Executions; executions != want {
		t.Errorf("%d executions at all places, want %d", executions, want)
	}
}

// checkFutures: what a library makes for a hand-over has the place of that, also
// where its executions are only counted.
func checkFutures(t *testing.T, p testjvm.Profile, place string) {
	t.Helper()
	got := listedPlaces(t, p, "java.util.concurrent.FutureTask")
	want := map[string]atPlace{place: {Created: placesTasks / 4, Executions: placesTasks / 4}}
	if !maps.Equal(got, want) {
		t.Errorf("FutureTask: %+v, want %+v", got, want)
	}
}

// checkSiteSums holds what the files tell by place against what they tell of
// classes: no event is missing, and none is told twice.
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
		t.Errorf("by place %+v, by class %+v", got, want)
	}
	if (len(got) == 0) != (detail == "all") {
		t.Errorf("%d classes are told by place", len(got))
	}
}
