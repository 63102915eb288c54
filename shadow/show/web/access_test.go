package web

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/label"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web/access"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
)

const proxyAddress = "10.1.0.9:4000"

const policy = `
proxy: {header: X-Forwarded-User, groups_header: X-Forwarded-Groups, from: [10.1.0.9]}
rules:
  - {users: [root], services: ["*"], role: admin}
  - {groups: [shop], services: ["shop-*"], role: viewer}
  - {groups: [leads], services: ["shop-*"], role: admin}
  - {groups: [bank], services: [bank], role: viewer}
`

// teams serves a store with sessions of two teams, stored and running, and one without a service.
func teams(t *testing.T, text string) (s *Server, dir string) {
	t.Helper()
	p, err := access.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for folder, service := range map[string]string{"shop1": "shop-web", "bank1": "bank", "none1": ""} {
		keep(t, dir, folder, 1)
		relabel(t, dir, folder, service)
	}
	running := []ingest.Progress{
		{Session: "shop2", Folder: "shop2", Labels: label.Labels{Service: "shop-db"}, LastBatch: time.Now(), JVM: store.JVM{MainClass: "S"}},
		{Session: "bank2", Folder: "bank2", Labels: label.Labels{Service: "bank"}, LastBatch: time.Now(), JVM: store.JVM{MainClass: "B"}},
	}
	figures := live.New(live.Options{Now: time.Now})
	for _, x := range running {
		figures.Begin(x.Folder, &store.Manifest{Session: x.Session}, nil)
		figures.Progress(x)
	}
	log, err := audit.Open(filepath.Join(dir, audit.Name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { log.Close() })
	s = New(Options{Sessions: func() []ingest.Progress { return running }, Totals: func() ingest.Totals { return ingest.Sum(running) }, Now: time.Now, Note: t.Logf,
		Store: dir, Bus: "nats://127.0.0.1:4222", Live: figures, Access: p, Audit: log})
	return s, dir
}

func relabel(t *testing.T, dir, folder, service string) {
	t.Helper()
	w, err := store.OpenWriter(dir, folder, folder)
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.Labels.Service, w.Manifest.Ended = service, store.EndedExit
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, folder, store.ManifestName), past, past); err != nil {
		t.Fatal(err)
	}
}

// as sends a request that a proxy says is from a user.
func as(s *Server, user, groups, method, target string) *httptest.ResponseRecorder {
	return ask(s, method, target, func(r *http.Request) {
		r.RemoteAddr = proxyAddress
		r.Header.Set("X-Forwarded-User", user)
		r.Header.Set("X-Forwarded-Groups", groups)
		r.Header.Set(csrfHeader, s.csrf)
	})
}

// Each address shows a user the sessions of his services, and no trace of others.
func TestRights(t *testing.T) {
	s, _ := teams(t, policy)
	for _, c := range []struct{ user, groups, sees, not string }{
		{"root", "", "shop1 bank1 none1 shop2 bank2", ""},
		{"ann", "x, shop", "shop1 shop2", "bank1 none1 bank2 bank"},
		{"bob", "bank", "bank1 bank2", "shop1 none1 shop2 shop-"},
		{"eve", "shop,bank", "shop1 bank1 shop2 bank2", "none1"},
	} {
		sees, not := strings.Fields(c.sees), strings.Fields(c.not)
		for _, target := range []string{"/", "/sessions.json", "/live.json", "/metrics", "/state.json", "/sessions.json?q=com.acme"} {
			w := as(s, c.user, c.groups, "GET", target)
			body := w.Body.String()
			if w.Code != 200 {
				t.Errorf("%s: %s: %d", c.user, target, w.Code)
			}
			for _, folder := range not {
				if strings.Contains(body, folder) {
					t.Errorf("%s: %s has %s:\n%s", c.user, target, folder, body)
				}
			}
			for _, folder := range sees {
				stored := strings.HasSuffix(folder, "1")
				if (target == "/sessions.json" || target != "/" && target != "/state.json" && !strings.Contains(target, "?") && !stored) && !strings.Contains(body, folder) {
					t.Errorf("%s: %s lacks %s:\n%s", c.user, target, folder, body)
				}
			}
		}
		if total := as(s, c.user, c.groups, "GET", "/sessions.json").Header().Get("X-Total-Count"); total != map[int]string{5: "5", 2: "2", 4: "4"}[len(sees)] {
			t.Errorf("%s: %s sessions in all", c.user, total)
		}
		for _, folder := range []string{"shop1", "bank1", "none1", "shop2", "bank2"} {
			want := 404
			if slices.Contains(sees, folder) {
				want = 200
			}
			targets := []string{"/sessions/" + folder + "/report", "/sessions/" + folder + "/progress.json", "/jvm/" + folder}
			if strings.HasSuffix(folder, "1") {
				targets = append(targets, "/sessions/"+folder+"/download")
			} else {
				targets = append(targets, "/live/"+folder+".json")
			}
			for _, target := range targets {
				if w := as(s, c.user, c.groups, "GET", target); w.Code != want {
					t.Errorf("%s: %s: %d, want %d", c.user, target, w.Code, want)
				}
			}
			for _, target := range []string{"/sessions/" + folder + "/data.json", "/sessions/" + folder + "/report.html"} { // there is no maker
				if w := as(s, c.user, c.groups, "GET", target); w.Code != 404 {
					t.Errorf("%s: %s: %d", c.user, target, w.Code)
				}
			}
		}
	}
	var state struct {
		Store, User, Role string
		Running           int
	}
	if err := json.Unmarshal(as(s, "ann", "shop", "GET", "/state.json").Body.Bytes(), &state); err != nil || state.Store != "" || state.Running != 1 || state.User != "ann" || state.Role != access.Viewer {
		t.Errorf("%+v, %v", state, err)
	}
	if body := as(s, "ann", "shop", "GET", "/metrics").Body.String(); strings.Contains(body, "stackagent_sessions_total") || strings.Contains(body, "not_listed") {
		t.Error("sums over all services for who may not see all")
	}
}

// An address that does not look at the rights is closed to who may not see everything.
func TestNewAddressesAreClosed(t *testing.T) {
	s, _ := teams(t, policy)
	all, limited := http.NewServeMux(), http.NewServeMux()
	all.HandleFunc("GET /new", func(w http.ResponseWriter, _ *http.Request) { plain(w, 200, "everything") })
	guarded := s.guard(all, limited)
	for user, want := range map[string]int{"root": 200, "ann": 404} {
		r, w := httptest.NewRequest("GET", "http://x/new", nil), httptest.NewRecorder()
		r.RemoteAddr = proxyAddress
		r.Header.Set("X-Forwarded-User", user)
		r.Header.Set("X-Forwarded-Groups", "shop")
		if guarded.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: %d, want %d", user, w.Code, want)
		}
	}
	if rights := rightsOf(httptest.NewRequest("GET", "/", nil)); !rights.None() {
		t.Error("a request that no guard saw has rights")
	}
}

// Only a proxy on the list may say who asks.
func TestProxyHeader(t *testing.T) {
	s, _ := teams(t, policy)
	s.o.Token = token
	for name, c := range map[string]struct {
		edit func(*http.Request)
		want int
	}{
		"the proxy":         {func(r *http.Request) { r.Header.Set("X-Forwarded-User", "root") }, 200},
		"from elsewhere":    {func(r *http.Request) { r.Header.Set("X-Forwarded-User", "root"); r.RemoteAddr = "10.1.0.8:4000" }, 401},
		"from this machine": {func(r *http.Request) { r.Header.Set("X-Forwarded-User", "root"); r.RemoteAddr = "127.0.0.1:4000" }, 401},
		"claims to be forwarded": {func(r *http.Request) {
			r.Header.Set("X-Forwarded-User", "root")
			r.RemoteAddr = "192.0.2.1:1"
			r.Header.Set("X-Forwarded-For", "10.1.0.9")
		}, 401},
		"no header":    {func(*http.Request) {}, 401},
		"an empty one": {func(r *http.Request) { r.Header.Set("X-Forwarded-User", " ") }, 401},
		"two of them":  {func(r *http.Request) { r.Header["X-Forwarded-User"] = []string{"ann", "root"} }, 401},
		"groups twice": {func(r *http.Request) {
			r.Header.Set("X-Forwarded-User", "ann")
			r.Header["X-Forwarded-Groups"] = []string{"x", "shop"}
		}, 401},
		"too long":              {func(r *http.Request) { r.Header.Set("X-Forwarded-User", strings.Repeat("x", maxIdentity+1)) }, 401},
		"a user without rights": {func(r *http.Request) { r.Header.Set("X-Forwarded-User", "\u202enobody") }, 403},
		"a group as a user":     {func(r *http.Request) { r.Header.Set("X-Forwarded-User", "shop") }, 403},
		"the password":          {func(r *http.Request) { r.SetBasicAuth("x", token); r.RemoteAddr = "192.0.2.1:1" }, 200},
		"a wrong password":      {func(r *http.Request) { r.SetBasicAuth("x", "wrong"); r.Header.Set("X-Forwarded-User", "root") }, 401},
		"another site's request": {func(r *http.Request) {
			r.Header.Set("X-Forwarded-User", "root")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403},
	} {
		w := ask(s, "GET", "/sessions.json", func(r *http.Request) {
			r.RemoteAddr = proxyAddress
			c.edit(r)
		})
		if w.Code != c.want || strings.ContainsRune(w.Body.String(), '\u202e') {
			t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, c.want)
		}
	}
}

// Who may look may not change; what was deleted is in the log with who did it, and so is what was refused by the store.
func TestChangesAreAudited(t *testing.T) {
	s, dir := teams(t, policy)
	for _, c := range []struct {
		user, groups, folder string
		want                 int
	}{{"ann", "shop", "shop1", 403}, {"ann", "shop", "bank1", 404}, {"lea", "leads", "bank1", 404}, {"lea", "leads", "shop2", 409}, {"lea", "leads", "shop1", 204}, {"root", "", "none1", 204}} {
		if w := as(s, c.user, c.groups, "DELETE", "/sessions/"+c.folder); w.Code != c.want {
			t.Errorf("%s deletes %s: %d %s, want %d", c.user, c.folder, w.Code, w.Body, c.want)
		}
	}
	if w := as(s, "ann", "shop", "POST", "/sessions/shop2/label"); w.Code != 403 {
		t.Errorf("ann labels: %d", w.Code)
	}
	if w := ask(s, "DELETE", "/sessions/bank1", func(r *http.Request) {
		r.RemoteAddr = proxyAddress
		r.Header.Set("X-Forwarded-User", "root")
	}); w.Code != 403 {
		t.Errorf("without the token of state.json: %d", w.Code)
	}
	for folder, want := range map[string]bool{"shop1": false, "none1": false, "bank1": true} {
		if _, err := os.Stat(filepath.Join(dir, folder)); (err == nil) != want {
			t.Errorf("%s: %v", folder, err)
		}
	}
	f, err := os.Open(filepath.Join(dir, audit.Name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var got []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e audit.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.From != proxyAddress || e.Time.IsZero() {
			t.Errorf("%s: %v", lines.Text(), err)
		}
		got = append(got, e.Who+" "+e.Action+" "+e.What+" "+e.Service+" "+e.Result)
	}
	if want := "lea delete shop1 shop-web begun, lea delete shop1 shop-web done, root delete none1  begun, root delete none1  done"; strings.Join(got, ", ") != want {
		t.Errorf("log: %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// The stream of a user has his services alone, also while others watch theirs.
func TestStreamsByRights(t *testing.T) {
	s, _ := teams(t, policy)
	user := func(groups string) access.Rights {
		return s.o.Access.Of(access.User{Name: "x", Groups: []string{groups}})
	}
	root := s.o.Access.Of(access.User{Name: "root"})
	first := func(key place, r access.Rights) string {
		c, known := s.hub.watch(key, sees(r))
		if !known {
			t.Fatal("no stream")
		}
		defer s.hub.leave(key, c)
		s.hub.send()
		<-c
		return string((<-c).data)
	}
	shop, bank := user("shop"), user("bank")
	c, _ := s.hub.watch(place{}, sees(root)) // somebody sees all meanwhile
	defer s.hub.leave(place{}, c)
	for _, x := range []struct {
		r         access.Rights
		key       place
		sees, not string
	}{{shop, place{rights: shop.Key()}, "shop2", "bank2"}, {bank, place{rights: bank.Key()}, "bank2", "shop2"}} {
		if data := first(x.key, x.r); !strings.Contains(data, x.sees) || strings.Contains(data, x.not) {
			t.Errorf("%s", data)
		}
	}
	for target, want := range map[string]int{"/events?jvm=bank2": 404, "/events?jvm=none": 404} {
		if w := as(s, "ann", "shop", "GET", target); w.Code != want {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	if w := as(s, "ann", "shop", "HEAD", "/events?jvm=shop2"); w.Code != 200 {
		t.Errorf("one's own: %d", w.Code)
	}
}

// What does not work is in state.json, for who may know it: of the store in full for who sees all, of quotas to those who see
// the service.
func TestTroubles(t *testing.T) {
	s, _ := teams(t, policy)
	troubles := func(user, groups string) string {
		t.Helper()
		var state struct{ Troubles []string }
		if err := json.Unmarshal(as(s, user, groups, "GET", "/state.json").Body.Bytes(), &state); err != nil || state.Troubles == nil {
			t.Fatal(state, err)
		}
		return strings.Join(state.Troubles, "|")
	}
	if got := troubles("root", ""); got != "" {
		t.Errorf("all is well: %s", got)
	}
	s.o.Troubles = func() []string {
		return []string{"The object store fails:\nbank2 \x1b[31m" + strings.Repeat("x", 9999)}
	}
	s.o.Quotas = func() []ingest.QuotaState {
		return []ingest.QuotaState{{Service: ingest.AnyService, Waiting: 7}, {Service: "bank", Waiting: 1}, {Service: "shop-web", Waiting: 3}, {Service: "shop-db", Open: 4}}
	}
	all := troubles("root", "")
	for _, want := range []string{"fails:; bank2 ?[31mx", "Services without a quota of their own: 7 sessions wait", "bank: 1 session waits", "shop-web: 3 sessions wait"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing: %s", want, all)
		}
	}
	if len(all) > 1000 || strings.Contains(all, "shop-db") {
		t.Error(all)
	}
	if got := troubles("ann", "shop"); !strings.Contains(got, "store fails") || !strings.Contains(got, "shop-web: 3 sessions wait") || strings.Contains(got, "bank") || strings.Contains(got, "7 sessions") {
		t.Errorf("ann sees %s", got)
	}
}
