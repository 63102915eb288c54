package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/web/access"
	"stackagent/shadow/store"
)

// Bounds of sessions.json.
const (
	defaultRows = 500
	maxRows     = 1000
	maxQuery    = 200 // bytes of q
)

// Row is a session in sessions.json.
type Row struct {
	ID      string `json:"id"` // its folder's name in the store and in addresses of the page
	Session string `json:"session"`
	Name    string `json:"name"` // the user's name for it; else Session, else ID
	Note    string `json:"note"` // the user's
	Program string `json:"program"`
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	label.Labels
	JVM        string   `json:"jvm"`
	GC         string   `json:"gc"`
	Started    string   `json:"started"`      // RFC 3339
	DurationNs int64    `json:"duration_ns"`  // as far as it is stored
	Bytes      int64    `json:"bytes"`        // of its files
	Executions uint64   `json:"executions"`   // received
	Creations  uint64   `json:"creations"`    // received
	Stored     uint64   `json:"stored"`       // both, on the disk
	PerSecond  *float64 `json:"per_second"`   // both, received lately; null: not known, or ended
	Lost       uint64   `json:"lost"`         // events
	Gaps       uint64   `json:"lost_batches"` // batches that never arrived
	State      string   `json:"state"`
	Running    bool     `json:"running"`
	Damaged    string   `json:"damaged,omitempty"` // why the manifest cannot be read: figures are 0 then
	LastBatch  string   `json:"last_batch"`        // RFC 3339
	Folder     string   `json:"folder"`
	Report     string   `json:"report,omitempty"` // address of its report on this page; of a session that runs, up to now
	Live       string   `json:"live,omitempty"`   // address of its live view

	started time.Time
	key     string    // of one in a bucket; "": it is in the store
	changed time.Time // of one in a bucket
}

// title is what the user calls the session.
func (r *Row) title() string { return cmp.Or(r.Name, r.Session, r.ID) }

func (r *Row) cursor() catalog.Cursor { return catalog.CursorAt(r.started, r.ID) }

// rows are the sessions of the store and those that are not in it yet, the newest first, as far as the rights go.
func (s *Server) rows(rights access.Rights, words []string) []Row {
	stored, err := s.catalog.List()
	s.storeTrouble(err)
	live := s.o.Sessions()
	at := make(map[string]int, len(live))
	for i := range live {
		at[live[i].Folder] = i
	}
	rows := make([]Row, 0, len(stored)+8)
	for i := range stored {
		e := &stored[i]
		var p *ingest.Progress
		if n, ok := at[e.Folder]; ok {
			p = &live[n]
			delete(at, e.Folder)
		}
		service := e.Labels.Service
		if p != nil {
			service = p.Labels.Service
		}
		if rights.Sees(service) && e.Matches(words) {
			rows = append(rows, s.row(e, p))
		}
	}
	for _, n := range at {
		p := &live[n]
		if s.gone(p, err) {
			continue
		}
		e := catalog.Entry{Folder: p.Folder, Session: p.Session, Program: p.JVM.MainClass, Host: p.JVM.Host, PID: p.JVM.PID, Labels: p.Labels, Started: p.LastBatch}
		if e.Matches(words) && rights.Sees(p.Labels.Service) {
			rows = append(rows, s.row(&e, p))
		}
	}
	if len(at) > 0 {
		slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Or(b.started.Compare(a.started), strings.Compare(a.ID, b.ID)) })
	}
	return rows
}

// gone reports whether a session that is not in the list of the store was deleted. One that runs is only too new for
// the list.
func (s *Server) gone(p *ingest.Progress, err error) bool {
	return err == nil && p.Ended != store.EndedRunning
}

// row is a session of the store, and where it stands if this shadow records it.
func (s *Server) row(e *catalog.Entry, p *ingest.Progress) Row {
	r := Row{
		ID: e.Folder, Session: e.Session, Name: cmp.Or(e.Name, e.Session, e.Folder), Note: e.Note, Program: e.Program, Host: e.Host, PID: e.PID, Labels: e.Labels, JVM: e.JVM, GC: e.GC,
		DurationNs: int64(e.Duration), Bytes: e.Bytes, Executions: e.Executions, Creations: e.Creations, Stored: e.Executions + e.Creations,
		Lost: e.LostEvents, Gaps: e.LostBatches, State: e.Ended, Running: e.Open(s.o.Now()), Damaged: e.Damaged,
		LastBatch: rfc3339(e.Stored), Folder: filepath.Join(s.o.Store, e.Folder), started: e.Started,
	}
	last := e.Stored
	if p != nil {
		r.Session, r.Program, r.Host, r.PID, r.Labels = p.Session, p.JVM.MainClass, p.JVM.Host, p.JVM.PID, p.Labels
		r.Executions, r.Creations, r.Stored = p.Received.Executions, p.Received.Creations, p.Stored.Sum()
		r.Lost, r.Gaps, r.State, r.Running, r.Damaged = p.Lost.Events, p.Lost.Batches, p.Ended, p.Ended == store.EndedRunning, ""
		r.LastBatch, last = rfc3339(p.LastBatch), p.LastBatch
	}
	r.Started = rfc3339(r.started)
	switch {
	case r.Damaged != "":
		r.State = "damaged"
	case r.Running:
		r.State = "running, last batch " + units.FormatNs(units.Ns(s.o.Now().Sub(last))) + " ago"
	case r.State == store.EndedRunning:
		r.State = "cut off"
	}
	if perSecond, ok := s.rates.of(e.Folder); ok && r.Running {
		r.PerSecond = &perSecond
	}
	if s.o.Data != nil && r.Damaged == "" {
		r.Report = addressOf(e.Folder) + "/report"
	}
	if r.Running && p != nil {
		r.Live = "/jvm/" + url.PathEscape(e.Folder)
	}
	return r
}

func rfc3339(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// json lists the sessions: those that match the words of q, at most limit, from after on. The header Link has the
// address of the next ones, X-Total-Count how many match.
func (s *Server) json(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, after, err := bounds(q)
	if err != nil {
		plain(w, http.StatusBadRequest, err.Error())
		return
	}
	rows := s.rows(rightsOf(r), strings.Fields(q.Get("q")))
	w.Header().Set("X-Total-Count", strconv.Itoa(len(rows)))
	from, _ := slices.BinarySearchFunc(rows, after, func(r Row, c catalog.Cursor) int {
		if c.Before(r.started, r.ID) {
			return 1
		}
		return -1
	})
	rows = rows[from:]
	if len(rows) > limit {
		rows = rows[:limit]
		q.Set("after", rows[limit-1].cursor().String())
		w.Header().Set("Link", "</sessions.json?"+q.Encode()+`>; rel="next"`)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, rows) // the client has gone; nothing to do
}

func bounds(q url.Values) (limit int, after catalog.Cursor, err error) {
	limit = defaultRows
	if text := q.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxRows {
			return 0, after, badRequest("limit: use a number from 1 to " + strconv.Itoa(maxRows))
		}
	}
	if len(q.Get("q")) > maxQuery {
		return 0, after, badRequest("q: use at most " + strconv.Itoa(maxQuery) + " bytes")
	}
	if after, err = catalog.ParseCursor(q.Get("after")); err != nil {
		return 0, after, badRequest("after: use the address in the header Link")
	}
	return limit, after, nil
}

// badRequest is what is wrong with a request, in words for its sender.
type badRequest string

func (b badRequest) Error() string { return string(b) }

// find looks for the session that a request names; if there is none, it answers. Text from the request is only
// compared, never used as a path.
func (s *Server) find(w http.ResponseWriter, r *http.Request) (Row, bool) {
	asked := r.PathValue("folder")
	var progress *ingest.Progress
	live := s.o.Sessions()
	if i := slices.IndexFunc(live, func(p ingest.Progress) bool { return p.Folder == asked }); i >= 0 {
		progress = &live[i]
	}
	named := func(e catalog.Entry) bool { return e.Folder == asked }
	stored, err := s.catalog.List()
	i := slices.IndexFunc(stored, named)
	if i < 0 && progress != nil && s.gone(progress, err) {
		// It was deleted, or it ran so shortly that the list is older.
		s.catalog.Look()
		stored, err = s.catalog.List()
		i = slices.IndexFunc(stored, named)
	}
	e, ok := catalog.Entry{}, i >= 0
	if ok {
		e = stored[i]
	} else if progress != nil && !s.gone(progress, err) {
		e, ok = catalog.Entry{Folder: progress.Folder, Started: progress.LastBatch}, true
	}
	var row Row
	if ok {
		row = s.row(&e, progress)
	}
	if rights := rightsOf(r); !ok || !rights.Sees(row.Service) { // one that may not be seen is not there
		plain(w, http.StatusNotFound, "no session has this name")
		return Row{}, false
	}
	return row, true
}

// mostTrouble bounds a sentence of troubles, in characters: it may have what an object store answered, for many sessions.
const mostTrouble = 400

// troubles are what does not work though sessions are stored, for who may know it.
func (s *Server) troubles(rights access.Rights) []string {
	list := []string{}
	if s.o.Troubles != nil {
		for _, t := range s.o.Troubles() {
			if !rights.All() { // it may name what others do
				list = append(list, "A part of the shadow's store fails; who runs it sees more.")
				break
			}
			list = append(list, text.Cut(text.OneLine(t), mostTrouble))
		}
	}
	if s.o.Quotas == nil {
		return list
	}
	for _, q := range s.o.Quotas() {
		if q.Waiting == 0 || !rights.All() && (q.Service == ingest.AnyService || !rights.Sees(q.Service)) {
			continue
		}
		of := text.OneLine(q.Service)
		if q.Service == ingest.AnyService {
			of = "Services without a quota of their own"
		}
		list = append(list, fmt.Sprintf("%s: %s because of the quota (--quota); what they send waits on the bus.", of, text.PluralExact(q.Waiting, "session waits", "sessions wait")))
	}
	return list
}

// state has what the page shows beside the sessions, and the token that a request needs to change something.
func (s *Server) state(w http.ResponseWriter, r *http.Request) {
	rights := rightsOf(r)
	answer := struct {
		Store    string   `json:"store"`
		Bus      string   `json:"bus"`
		Fault    string   `json:"fault"`    // why nothing is stored; "": all is well
		Troubles []string `json:"troubles"` // sentences on what else does not work
		Running  uint64   `json:"running"`  // sessions
		CSRF     string   `json:"csrf"`     // for the header X-CSRF-Token
		User     string   `json:"user"`     // who asks; "": it has no name
		Role     string   `json:"role"`     // admin: may delete and label sessions; viewer
		Fleet    bool     `json:"fleet"`    // there is a page /services
	}{CSRF: s.csrf, Role: rights.Role(), Fleet: s.o.Fleet != nil, Troubles: s.troubles(rights)}
	if s.o.Access != nil {
		answer.User = rights.Who
	}
	var fault error
	if s.o.Healthy != nil {
		fault = s.o.Healthy()
	}
	if rights.All() {
		answer.Store, answer.Bus, answer.Running = s.o.Store, s.o.Bus, s.o.Totals().Running
		if fault != nil {
			answer.Fault = fault.Error()
		}
	} else { // a path and a fault may name what others do
		for _, p := range s.o.Sessions() {
			if p.Ended == store.EndedRunning && rights.Sees(p.Labels.Service) {
				answer.Running++
			}
		}
		if fault != nil {
			answer.Fault = "nothing is stored"
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, answer) // the client has gone; nothing to do
}
