package web

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/store"
)

// change sends a request that changes something, with the server's token, changed by edit.
func change(s *Server, method, target, body string, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://127.0.0.1:7077"+target, strings.NewReader(body))
	r.Header.Set(csrfHeader, s.csrf)
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

func TestChangesNeedTheToken(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	s := storeServer(dir)
	for name, edit := range map[string]func(*http.Request){
		"no token":        func(r *http.Request) { r.Header.Del(csrfHeader) },
		"a wrong token":   func(r *http.Request) { r.Header.Set(csrfHeader, strings.ToLower(s.csrf)) },
		"half a token":    func(r *http.Request) { r.Header.Set(csrfHeader, s.csrf[:5]) },
		"another site":    func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"a sibling":       func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") },
		"a typed address": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "none") },
		"a foreign page":  func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another port":    func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:7078") },
		"a hidden page":   func(r *http.Request) { r.Header.Set("Origin", "null") },
		"an empty page":   func(r *http.Request) { r.Header.Set("Origin", "") },
		"two pages":       func(r *http.Request) { r.Header["Origin"] = []string{"http://127.0.0.1:7077", "http://evil.example"} },
		"a foreign name":  func(r *http.Request) { r.Host = "evil.example" },
	} {
		for _, c := range [][2]string{{"DELETE", "/sessions/a"}, {"POST", "/sessions/a/label"}} {
			if w := change(s, c[0], c[1], `{"name":"x"}`, edit); w.Code != http.StatusForbidden {
				t.Errorf("%s %s with %s: %d", c[0], c[1], name, w.Code)
			}
		}
	}
	s.o.Token = token
	if w := change(s, "DELETE", "/sessions/a", "", nil); w.Code != http.StatusUnauthorized {
		t.Errorf("without the password: %d", w.Code)
	}
	s.o.Token = ""
	s.o.Peer = func(other, own netip.AddrPort) error {
		if other.String() != "192.0.2.1:1234" || own.Port() != 7077 {
			t.Errorf("peer %v %v", other, own)
		}
		return errors.New("a stranger")
	}
	here := func(r *http.Request) {
		own := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:7077"))
		*r = *r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, own))
	}
	if w := change(s, "DELETE", "/sessions/a", "", here); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "stranger") {
		t.Errorf("another user: %d %s", w.Code, w.Body)
	}
	if w := change(s, "DELETE", "/sessions/a", "", nil); w.Code != http.StatusForbidden {
		t.Errorf("nobody knows who: %d", w.Code)
	}
	s.o.Peer = nil
	if rows, _ := list(t, s, "/sessions.json"); len(rows) != 1 || rows[0].Name != "a" {
		t.Fatalf("something has changed: %+v", rows)
	}
	var state struct{ CSRF string }
	if err := json.Unmarshal(get(s, "/state.json").Body.Bytes(), &state); err != nil || state.CSRF != s.csrf || len(s.csrf) < 20 {
		t.Errorf("the token of the page: %q %v", state.CSRF, err)
	}
	if storeServer(dir).csrf == s.csrf {
		t.Error("two servers have one token")
	}
	own := func(r *http.Request) {
		r.Header.Set("Origin", "http://127.0.0.1:7077")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if w := change(s, "DELETE", "/sessions/a", "", own); w.Code != http.StatusNoContent {
		t.Errorf("this page: %d %s", w.Code, w.Body)
	}
}

func TestDelete(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	keep(t, dir, "b", 2)
	keep(t, dir, "run", 3)
	if err := os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "copied (2)")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := storeServer(dir, ingest.Progress{Folder: "run", LastBatch: time.Now()})
	var asked []string
	s.o.Remove = func(_ context.Context, folder string, remove func() error) error {
		asked = append(asked, folder)
		return remove()
	}
	for target, want := range map[string]int{"/sessions/run": 409, "/sessions/notes": 404, "/sessions/other": 404, "/sessions/..": 307, "/sessions/%2e%2e": 404, "/sessions/": 404, "/sessions": 404, "/": 405} {
		if w := change(s, "DELETE", target, "", nil); w.Code != want {
			t.Errorf("%s: %d, want %d", target, w.Code, want)
		}
	}
	if len(asked) > 0 {
		t.Fatalf("removed: %v", asked)
	}
	folder, err := store.OpenFolder(filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if w := change(s, "DELETE", "/sessions/a", "", nil); w.Code != 409 {
		t.Errorf("while somebody reads it: %d", w.Code)
	}
	folder.Close()
	for _, target := range []string{"/sessions/a", "/sessions/copied%20%282%29"} {
		if w := change(s, "DELETE", target, "", nil); w.Code != 204 || w.Body.Len() > 0 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if w := change(s, "DELETE", target, "", nil); w.Code != 404 {
			t.Errorf("%s again: %d", target, w.Code)
		}
	}
	if rows, _ := list(t, s, "/sessions.json"); ids(rows) != "run" {
		t.Errorf("left: %s", ids(rows))
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("left: %v %v", entries, err)
	}
}

// A session that was deleted behind the shadow's back is no longer listed.
func TestDeletedElsewhere(t *testing.T) {
	dir := t.TempDir()
	s := storeServer(dir, ingest.Progress{Session: "a", Folder: "a", Ended: store.EndedExit})
	if rows, _ := list(t, s, "/sessions.json"); len(rows) != 0 {
		t.Errorf("listed: %+v", rows)
	}
	if w := get(s, "/sessions/a/report"); w.Code != 404 {
		t.Errorf("report: %d", w.Code)
	}
}

func TestLabelOfSession(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	s := storeServer(dir)
	manifest, err := os.ReadFile(filepath.Join(dir, "a", store.ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	name := `<img src=x onerror=alert(1)> "fast"`
	body, err := json.Marshal(catalog.Label{Name: name, Note: "8 workers"})
	if err != nil {
		t.Fatal(err)
	}
	if w := change(s, "POST", "/sessions/a/label", string(body), nil); w.Code != 204 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	rows, _ := list(t, s, "/sessions.json?q=fast+workers")
	if len(rows) != 1 || rows[0].Name != name || rows[0].Note != "8 workers" || rows[0].Session != "a" {
		t.Errorf("row %+v", rows)
	}
	checkShell(t, get(s, "/sessions/a/report").Body.String())
	for _, bad := range []string{"", "x", "[]", `{"name":5}`, `{"nam":"x"}`, `{"name":"x"} {}`, `{"name":"\u001b"}`, `{"name":"` + strings.Repeat("x", catalog.MaxName+1) + `"}`,
		`{"name":"` + strings.Repeat("x", 2*maxBody) + `"}`} {
		if w := change(s, "POST", "/sessions/a/label", bad, nil); w.Code != 400 {
			t.Errorf("%.40s: %d %s", bad, w.Code, w.Body)
		}
	}
	if rows, _ := list(t, s, "/sessions.json"); rows[0].Name != name {
		t.Errorf("after refusals: %+v", rows)
	}
	if w := change(s, "POST", "/sessions/a/label", "{}", nil); w.Code != 204 {
		t.Errorf("no label: %d %s", w.Code, w.Body)
	}
	if rows, _ := list(t, s, "/sessions.json"); rows[0].Name != "a" {
		t.Errorf("without a label: %+v", rows)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "a", store.ManifestName)); err != nil || string(after) != string(manifest) {
		t.Errorf("the manifest has changed: %v", err)
	}
}

func TestDownload(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "a", 1)
	keep(t, dir, "run", 2)
	secret := filepath.Join(t.TempDir(), "secret")
	for name, content := range map[string]string{secret: "secret", filepath.Join(dir, "a", "sched", "record.json"): "{}", filepath.Join(dir, "a", DataName): "x", filepath.Join(dir, "a", ".tmp-x"): "x"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(secret, filepath.Join(dir, "a", "link")), os.Symlink(filepath.Dir(secret), filepath.Join(dir, "a", "folder"))); err != nil {
		t.Fatal(err)
	}
	s := storeServer(dir, ingest.Progress{Folder: "run", LastBatch: time.Now()})
	if w := get(s, "/sessions/run/download"); w.Code != 409 {
		t.Errorf("a running session: %d", w.Code)
	}
	w := get(s, "/sessions/a/download")
	if w.Code != 200 || w.Header().Get("Content-Disposition") != "attachment; filename=a.tar" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	files := map[string]string{}
	for in := tar.NewReader(w.Body); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(in)
		if err != nil || h.Typeflag != tar.TypeReg {
			t.Errorf("%s: %v, type %c", h.Name, err, h.Typeflag)
		}
		files[h.Name] = string(b)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "a", store.ManifestName))
	if err != nil || len(files) != 2 || files["a/manifest.json"] != string(manifest) || files["a/sched/record.json"] != "{}" {
		t.Errorf("files %v %v", files, err)
	}
	for range maxDownloads {
		s.downloads <- struct{}{}
	}
	if w := get(s, "/sessions/a/download"); w.Code != 503 || w.Header().Get("Retry-After") == "" {
		t.Errorf("too many: %d", w.Code)
	}
}
