package browser_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/testobjects"
	"stackagent/shadow/fleet/fleettest"
)

// servesFleet runs `shadow serve` on a bucket with the sessions of a generated fleet, and gives the page's address.
func servesFleet(t *testing.T, f fleettest.Fleet) string {
	t.Helper()
	dir := t.TempDir()
	list, err := f.Generate(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	address := testobjects.Serve(t).Address("traces", "")
	add := []string{"fleet", "add", "--raw", address}
	for _, x := range list {
		add = append(add, x.Dir)
	}
	if out, err := exec.Command(testjvm.Shadow(t), add...).CombinedOutput(); err != nil {
		t.Fatalf("shadow fleet add: %v\n%s", err, out)
	}
	return servesStore(t, address, filepath.Join(dir, "work"))
}

// servesStore runs `shadow serve` on a bucket, and gives the page's address.
func servesStore(t *testing.T, address, work string) string {
	t.Helper()
	page := free(t)
	run(t, testjvm.Shadow(t), "serve", "--listen", free(t), "--http", page, "--store", address, "--work", work)
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get("http://" + page + "/healthz"); err == nil {
			answer.Body.Close()
			return "http://" + page
		}
		if time.Now().After(end) {
			t.Fatal("shadow serve does not answer")
		}
	}
}

// A reader goes from the first page to the services, sorts, changes the grouping and the service, and ends at the report of a
// session, which the shadow reads in the bucket.
func TestServices(t *testing.T) {
	testjvm.Shared(t)
	page := servesFleet(t, fleettest.Fleet{Sessions: 36, Services: 3, Instances: 3, Days: 8, Executions: 3000, From: time.Now().Add(-9 * 24 * time.Hour), Seed: 7})
	b := open(t, page+"/", laptop)
	b.until(`!document.querySelector("#services-link").hidden`)
	b.click("#services-link")
	const top = "#services-top tbody tr"
	b.until(`document.querySelectorAll("` + top + `").length > 3`)
	b.accessible("services")
	b.fits()
	b.shoot("services-top")

	b.click(`#services-top button[data-sort="executions"]`)
	b.until(`location.hash.includes("sort=-executions")`)
	const work = `document.querySelector("` + top + `").dataset.name.includes("fine.Step")`
	b.until(work) // 80 % of the executions of every session
	b.click(`#services-top button[data-sort="executions"]`)
	b.until(`location.hash.includes("sort=executions") && !(` + work + `)`)

	choose := func(id, value string) {
		b.must(b.Script(`(() => { const e = document.querySelector("#` + id + `"); e.value = ` + quoted(value) + `; e.dispatchEvent(new Event("change")); })()`))
	}
	choose("service", fleettest.Service(1))
	b.shows("name", fleettest.Service(1))
	choose("last", "30d")
	for _, view := range []string{"findings", "outliers", "trends", "versions", "sessions", "top"} {
		b.click(`nav a[data-view="` + view + `"]`)
		b.shows("view", view)
		b.until(ready)
		if why := eval[string](b, `document.querySelector("#services-trouble").innerText`); why != "" {
			t.Errorf("%s: %s", view, why)
		}
		b.accessible("services " + view)
		for _, size := range [][2]int{{400, 800}, laptop} {
			b.must(b.Resize(size[0], size[1]))
			b.fits()
		}
		b.shoot("services-" + view)
	}
	if n := eval[int](b, `document.querySelectorAll("`+top+`").length`); n == 0 {
		t.Error("no rows of the service")
	}

	choose("by", "session")
	b.until(`document.querySelector("#services-top [data-key=name]")?.dataset.label === "Session" && document.querySelectorAll("` + top + `").length === 12`)
	b.must(b.Media("", "prefers-color-scheme=dark"))
	b.shoot("services-dark")
	b.must(b.Resize(400, 800))
	b.shoot("services-phone")
	b.must(b.Resize(laptop[0], laptop[1]))
	b.until(ready) // the table is drawn again for the other width
	session := eval[string](b, `document.querySelector("`+top+`").dataset.name`)
	b.click(top + ` a`)
	b.until(`location.pathname.startsWith("/stored/date=") && (` + ready + `) && document.querySelector("#verdict")`)
	if path := eval[string](b, `decodeURIComponent(location.pathname)`); filepath.Base(filepath.Dir(path)) != "session="+session {
		t.Errorf("%s is not the report of %s", path, session)
	}
	b.shoot("services-report")
}

// The page says that the object store fails, and no longer when it works again.
func TestStoreFails(t *testing.T) {
	testjvm.Shared(t)
	work := t.TempDir()
	f := fleettest.Fleet{Sessions: 2, Services: 1, Days: 1, Executions: 300, From: time.Now().AddDate(0, 0, -3), Seed: 7}
	list, err := f.Generate(work)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list { // nothing more comes of them
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(x.Dir, "manifest.json"), past, past); err != nil {
			t.Fatal(err)
		}
	}
	bucket := testobjects.Serve(t)
	bucket.Fail(testobjects.Always(testobjects.Answer(http.StatusForbidden, "AccessDenied")))
	b := open(t, servesStore(t, bucket.Address("traces", "&attempts=1"), work)+"/", laptop)
	const faults = `document.querySelector("#faults").innerText`
	b.until(faults + `.includes("AccessDenied")`)
	if said := eval[string](b, faults); !strings.Contains(said, "The object store has failed for") || !strings.Contains(said, work) {
		t.Errorf("the page says %q", said)
	}
	b.accessible("store fails")
	for _, size := range [][2]int{phone, laptop} {
		b.must(b.Resize(size[0], size[1]))
		b.shoot(fmt.Sprint("store-fails-", size[0]))
		b.fits()
	}
	b.shoot("store-fails")
	bucket.Fail(nil)
	b.until(faults + ` === ""`)
}
