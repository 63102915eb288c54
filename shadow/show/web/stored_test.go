package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackagent/internal/label"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/web/access"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// bucket is a folder as a bucket with sessions; it gives a server whose reports say where they were made from.
func bucket(t *testing.T, sessions map[string]label.Labels, started time.Time) (s *Server, root string) {
	t.Helper()
	dir := t.TempDir()
	root = filepath.Join(dir, "bucket")
	for name, l := range sessions {
		w, err := store.OpenWriter(dir, name, name)
		if err != nil {
			t.Fatal(err)
		}
		w.Manifest.Labels, w.Manifest.WallUnixNs, w.Manifest.Ended = l, started.UnixNano(), store.EndedExit
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(root, filepath.FromSlash(objectstore.SessionPrefix(started, l.Service, name)))
		if err := errors.Join(os.MkdirAll(filepath.Dir(to), 0o700), os.Rename(filepath.Join(dir, name), to)); err != nil {
			t.Fatal(err)
		}
	}
	to, err := objectstore.OpenFolder(root)
	if err != nil {
		t.Fatal(err)
	}
	s = storeServer(t.TempDir())
	s.o.Now = func() time.Time { return fleetNow }
	s.o.Fleet = &Fleet{
		Objects: to,
		Path:    func(key string) string { return "s3://bucket/" + key + "?options" },
		Sessions: func(ctx context.Context, key string) (all []catalog.Found, err error) {
			for o, err := range to.List(ctx, key+"/") {
				if err != nil {
					return nil, err
				}
				dir, name := filepath.Split(o.Key)
				if name != store.ManifestName {
					continue
				}
				m, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(o.Key)))
				if err != nil {
					return nil, err
				}
				e, _ := catalog.Parse(filepath.Base(dir), m, nil, o.Modified)
				all = append(all, catalog.Found{Dir: "s3:/bucket/" + strings.TrimSuffix(dir, "/"), Entry: e})
			}
			return all, nil
		},
	}
	s.o.Data = func(_ context.Context, dir string, w io.Writer, _ func(Progress)) error {
		_, err := io.WriteString(w, `{"of":"`+dir+`"}`)
		return err
	}
	return s, root
}

// From a row of roll-ups a reader comes to the report of the session, which is made from the bucket, once.
func TestStoredReport(t *testing.T) {
	began := time.Date(2026, 3, 20, 23, 0, 0, 0, time.UTC)
	s, root := bucket(t, map[string]label.Labels{"s1": {Service: "orders"}, "s2": {Service: "pay & go"}, "s3": {}}, began)
	for name, service := range map[string]string{"s1": "orders", "s2": "pay & go", "s3": ""} {
		// Its roll-ups are of a later day, too.
		w := get(s, "/stored?day=2026-03-25&service="+strings.NewReplacer(" ", "+", "&", "%26").Replace(service)+"&session="+name)
		to := w.Header().Get("Location")
		if w.Code != http.StatusSeeOther || !strings.HasPrefix(to, "/stored/date=2026-03-20/service=") {
			t.Fatalf("%s: %d %s %s", name, w.Code, to, w.Body)
		}
		if w := get(s, to); w.Code != 200 || !strings.Contains(w.Body.String(), strings.TrimSuffix(to, "report")+"data.json") {
			t.Errorf("%s: %d %s", to, w.Code, w.Body)
		}
		want := "s3://bucket/" + strings.TrimSuffix(objectstore.SessionPrefix(began, service, name), "/") + "?options"
		if w := get(s, strings.TrimSuffix(to, "report")+"data.json"); w.Code != 200 || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %s", to, w.Code, w.Body, want)
		}
		var list []Row
		w = get(s, "/services/sessions.json?service="+strings.NewReplacer(" ", "+", "&", "%26").Replace(service))
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || len(list) != 1 || list[0].Report != to {
			t.Errorf("sessions of %q: %v %s", service, err, w.Body)
		}
	}
	s.o.Data = func(context.Context, string, io.Writer, func(Progress)) error { return errors.New("made again") }
	if w := get(s, "/stored/date=2026-03-20/service=orders/session=s1/data.json"); w.Code != 200 {
		t.Errorf("a report that was made: %d %s", w.Code, w.Body)
	}
	for _, target := range []string{
		"/stored?day=2026-05-01&service=orders&session=s1", "/stored?day=2026-03-25&service=pay&session=s1", "/stored?day=x&service=orders&session=s1",
		"/stored/date=2026-03-20/service=orders/session=none/report", "/stored/date=2026-3-20/service=orders/session=s1/report",
		"/stored/date=2026-03-20/service=orders/s1/report", "/stored/date=2026-03-20/service=orders/session=../report", "/stored/date=2026-03-20/service=%2e%2e/session=s1/report",
		"/stored/date=2026-03-20/service=orders/session=%2e%2e%2fsession=s1/report", "/stored/date=2026-03-20/service=orders/session=s1%3Fendpoint=http:%2f%2fevil/data.json",
		"/stored/date=2026-03-20/service=*/session=s1/report",
	} {
		if w := get(s, target); w.Code != 404 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
	}
	// A manifest that names another service than its key does is not believed.
	moved := filepath.Join(root, "sessions/date=2026-03-20/service=orders")
	if err := os.Rename(moved, strings.Replace(moved, "orders", "public", 1)); err != nil {
		t.Fatal(err)
	}
	if w := get(s, "/stored/date=2026-03-20/service=public/session=s1/report"); w.Code != 404 {
		t.Errorf("a session that was moved: %d", w.Code)
	}
}

// Who may not see a service reaches none of its sessions in the bucket.
func TestStoredSeen(t *testing.T) {
	began := fleetNow.Add(-24 * time.Hour)
	s, _ := bucket(t, map[string]label.Labels{"s1": {Service: "bank"}}, began)
	p, err := access.Parse([]byte(policy))
	if err != nil {
		t.Fatal(err)
	}
	s.o.Access = p
	for group, code := range map[string]int{"bank": 200, "shop": 404} {
		for _, target := range []string{"/stored/date=2026-03-30/service=bank/session=s1/data.json", "/services/sessions.json?service=bank"} {
			w := ask(s, "GET", target, func(r *http.Request) {
				r.RemoteAddr = proxyAddress
				r.Header.Set("X-Forwarded-User", "ann")
				r.Header.Set("X-Forwarded-Groups", group)
			})
			if w.Code != code {
				t.Errorf("%s for %s: %d, want %d", target, group, w.Code, code)
			}
		}
	}
}

// Reports of sessions in the bucket do not fill the disk.
func TestStoredRoom(t *testing.T) {
	sessions := map[string]label.Labels{}
	for i := range mostMade + 3 {
		sessions[fmt.Sprint("s", i)] = label.Labels{Service: "x"}
	}
	s, _ := bucket(t, sessions, fleetNow)
	for name := range sessions {
		if w := get(s, "/"+strings.Replace(strings.TrimSuffix(objectstore.SessionPrefix(fleetNow, "x", name), "/"), "sessions/", "stored/", 1)+"/data.json"); w.Code != 200 {
			t.Fatalf("%s: %d %s", name, w.Code, w.Body)
		}
	}
	if list, err := os.ReadDir(filepath.Join(s.o.Store, madeFolder)); err != nil || len(list) != mostMade {
		t.Errorf("%d reports are kept, want %d: %v", len(list), mostMade, err)
	}
}

// Whatever stands in an address, the key is one of a session's folder.
func FuzzStoredKey(f *testing.F) {
	f.Add("date=2026-03-20", "service=orders", "session=s1")
	f.Add("date=2026-02-30", "service=..", "session=../../x?y")
	key := regexp.MustCompile(`^sessions/date=\d{4}-\d\d-\d\d/service=[A-Za-z0-9._-]+/session=[A-Za-z0-9._-]+$`)
	f.Fuzz(func(t *testing.T, date, service, session string) {
		r := &http.Request{}
		r.SetPathValue("date", date)
		r.SetPathValue("service", service)
		r.SetPathValue("session", session)
		got, ok := storedKey(r)
		if ok && (!key.MatchString(got) || path.Clean(got) != got) || !ok && got != "" {
			t.Errorf("%q %q %q: %q", date, service, session, got)
		}
		if ok && storedAddress(got) != "/stored/"+strings.TrimPrefix(got, "sessions/") {
			t.Errorf("%q is at %q", got, storedAddress(got))
		}
	})
}
