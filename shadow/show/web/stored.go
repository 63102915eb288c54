package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"stackagent/internal/text"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

const (
	// madeFolder is where in the store reports of sessions in the bucket are kept, at most mostMade.
	madeFolder = ".stored"
	mostMade   = 32
	// lookBackDays is how many days before a window its session may have begun.
	lookBackDays = 31
	// newestSessions is how many sessions of a service are listed, mostDayRequests how many days are looked at.
	newestSessions = 50
	// knownFor is how long a session in the bucket is believed to be as it was.
	knownFor = 30 * time.Second
	// mostKnown bounds those.
	mostKnown = 256
	// storeTime bounds what a page waits for the bucket.
	storeTime = 20 * time.Second
)

// known is a session in the bucket as it was a moment ago.
type known struct {
	at  time.Time
	row Row
}

// safePart is what a name looks like in a key, see objectstore.SafeName.
var safePart = regexp.MustCompile(`^[A-Za-z0-9._-]{1,160}$`)

// safeKey reports whether part is an element of a key that begins so. It comes from a user: it must not lead elsewhere.
func safeKey(part, begin string) bool {
	name, ok := strings.CutPrefix(part, begin)
	return ok && safePart.MatchString(name) && strings.Trim(name, ".") != ""
}

// storedKey is the key of the session that a request names.
func storedKey(r *http.Request) (key string, ok bool) {
	date, service, session := r.PathValue("date"), r.PathValue("service"), r.PathValue("session")
	day, isDate := strings.CutPrefix(date, "date=")
	if t, err := time.Parse(time.DateOnly, day); !isDate || err != nil || t.Format(time.DateOnly) != day {
		return "", false
	}
	if !safeKey(service, "service=") || !safeKey(session, "session=") {
		return "", false
	}
	return objectstore.SessionsPrefix + date + "/" + service + "/" + session, true
}

// storedAddress is where the page has a session in the bucket.
func storedAddress(key string) string {
	parts := strings.Split(strings.TrimPrefix(key, objectstore.SessionsPrefix), "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return "/stored/" + strings.Join(parts, "/")
}

// findStored looks for the session in the bucket that a request names; if there is none, it answers.
func (s *Server) findStored(w http.ResponseWriter, r *http.Request) (Row, bool) {
	key, ok := storedKey(r)
	if s.o.Fleet == nil || !ok {
		plain(w, http.StatusNotFound, "no session has this name")
		return Row{}, false
	}
	row, err := s.storedRow(r.Context(), key)
	rights := rightsOf(r)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && !rights.Sees(row.Service):
		plain(w, http.StatusNotFound, "no session has this name; it may have been removed by its age")
	case err != nil:
		s.o.Note("the session %s for the live page: %v", key, err)
		plain(w, http.StatusServiceUnavailable, "the store does not answer: "+text.OneLine(err.Error()))
	default:
		return row, true
	}
	return Row{}, false
}

// storedRow is the session at a key.
func (s *Server) storedRow(ctx context.Context, key string) (Row, error) {
	now := s.o.Now()
	s.mu.Lock()
	k, ok := s.known[key]
	s.mu.Unlock()
	if ok && now.Sub(k.at) < knownFor {
		return k.row, nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	found, err := s.o.Fleet.Sessions(ctx, key)
	if err != nil {
		return Row{}, err
	}
	i := slices.IndexFunc(found, func(f catalog.Found) bool { return strings.HasSuffix(f.Dir, "/"+key) })
	if i < 0 {
		return Row{}, fs.ErrNotExist
	}
	row := s.rowOfStored(key, &found[i].Entry)
	// What a key says of the service decides nothing: the manifest does. They disagree if somebody moved the session.
	if want := "/service=" + objectstore.SafeName(row.Service) + "/"; !strings.Contains(key, want) {
		return Row{}, fs.ErrNotExist
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.known) >= mostKnown {
		clear(s.known)
	}
	s.known[key] = known{now, row}
	return row, nil
}

func (s *Server) rowOfStored(key string, e *catalog.Entry) Row {
	row := s.row(e, nil)
	sum := sha256.Sum256([]byte(key))
	row.ID, row.key, row.changed = path.Join(madeFolder, hex.EncodeToString(sum[:12])), key, e.Stored
	row.Folder, row.Live, row.PerSecond = "", "", nil
	row.Session = strings.TrimPrefix(path.Base(key), "session=")
	if row.Name == path.Base(key) {
		row.Name = row.Session
	}
	if row.Report != "" {
		row.Report = storedAddress(key) + "/report"
	}
	return row
}

// makeRoom makes the folder of a report of a session in the bucket, and removes the oldest of too many.
func makeRoom(root *os.Root, x *Row) error {
	if x.key == "" {
		return nil
	}
	if err := root.MkdirAll(x.ID, 0o700); err != nil {
		return fmt.Errorf("making room for a report: %w", err)
	}
	list, err := fs.ReadDir(root.FS(), madeFolder)
	if err != nil {
		return fmt.Errorf("making room for a report: %w", err)
	}
	times := map[string]time.Time{}
	for _, d := range list {
		if info, err := d.Info(); err == nil && d.Name() != path.Base(x.ID) {
			times[d.Name()] = info.ModTime()
		}
	}
	for len(times) >= mostMade {
		oldest := ""
		for name, at := range times {
			if oldest == "" || at.Before(times[oldest]) {
				oldest = name
			}
		}
		if err := root.RemoveAll(path.Join(madeFolder, oldest)); err != nil {
			return fmt.Errorf("making room for a report: %w", err)
		}
		delete(times, oldest)
	}
	return nil
}

// storedNamed leads to the report of a session by its name, its service and a day on which it did something.
func (s *Server) storedNamed(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	service, session := q.Get("service"), q.Get("session")
	day, err := time.Parse(time.DateOnly, q.Get("day"))
	if s.o.Fleet == nil || err != nil || session == "" || len(service) > maxPart || len(session) > maxPart {
		plain(w, http.StatusNotFound, "no session has this name")
		return
	}
	if rights := rightsOf(r); !rights.Sees(service) {
		plain(w, http.StatusNotFound, "no session has this name")
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), storeTime)
	defer cancel()
	long(w, storeTime+requestTimeout)
	for back := range lookBackDays + 1 {
		key := objectstore.SessionPrefix(day.AddDate(0, 0, -back), service, session)
		for o, err := range s.o.Fleet.Objects.List(ctx, key+store.ManifestName) {
			if err != nil {
				plain(w, http.StatusServiceUnavailable, "the store does not answer: "+text.OneLine(err.Error()))
				return
			}
			if o.Key == key+store.ManifestName {
				http.Redirect(w, r, storedAddress(strings.TrimSuffix(key, "/"))+"/report", http.StatusSeeOther)
				return
			}
		}
	}
	plain(w, http.StatusNotFound, "the session is no longer in the store, only its sums: sessions are removed by their age (--retain-raw)")
}

// storedSessions lists the newest sessions of a service in the bucket.
func (s *Server) storedSessions(w http.ResponseWriter, r *http.Request) {
	service := r.URL.Query().Get("service")
	if rights := rightsOf(r); s.o.Fleet == nil || len(service) > maxPart || !rights.Sees(service) {
		plain(w, http.StatusNotFound, "there is no such service")
		return
	}
	long(w, storeTime+requestTimeout)
	body, err := s.answers.get(r.Context(), r.URL.Path+"?"+url.QueryEscape(service), s.o.Now, func(ctx context.Context) ([]byte, error) {
		ctx, cancel := context.WithTimeout(ctx, storeTime)
		defer cancel()
		return s.listStored(ctx, service)
	})
	if err != nil {
		if r.Context().Err() == nil {
			plain(w, http.StatusServiceUnavailable, "the store does not answer: "+text.OneLine(err.Error()))
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client has gone; nothing to do
}

func (s *Server) listStored(ctx context.Context, service string) ([]byte, error) {
	rows := []Row{}
	for back := 0; back <= lookBackDays && len(rows) < newestSessions; back++ {
		prefix := objectstore.SessionsPrefix + strings.TrimSuffix(objectstore.Partition(s.o.Now().AddDate(0, 0, -back), service), "/")
		found, err := s.o.Fleet.Sessions(ctx, prefix)
		if err != nil {
			return nil, err
		}
		for i := range found {
			key := prefix + "/" + path.Base(found[i].Dir)
			if found[i].Labels.Service == service && strings.HasSuffix(found[i].Dir, key) {
				rows = append(rows, s.rowOfStored(key, &found[i].Entry))
			}
		}
	}
	var b strings.Builder
	err := writeJSON(&b, rows[:min(len(rows), newestSessions)])
	return []byte(b.String()), err
}
