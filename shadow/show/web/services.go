package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/fleet"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/store/objectstore"
)

// Fleet is the store of a fleet, whose roll-ups and sessions the page shows.
type Fleet struct {
	Objects objectstore.Store
	// Sessions lists the visible sessions below a key.
	Sessions func(ctx context.Context, key string) ([]catalog.Found, error)
	// Path is by which a Maker finds the session at a key.
	Path func(key string) string
}

const (
	// questionsAtOnce bounds the questions that are being answered: collecting comes before looking.
	questionsAtOnce = 2
	// questionTime bounds one, with its wait for others.
	questionTime = time.Minute
	// answerKept is how long an answer is given again.
	answerKept = time.Minute
	// mostServiceRows bounds the rows of an answer, maxPart what a request says of one thing.
	mostServiceRows = 500
	maxPart         = 1024
)

// Answer is what the page gets to a question.
type Answer struct {
	From     string          `json:"from"`
	To       string          `json:"to"`
	Asked    string          `json:"asked"` // RFC 3339
	TookNs   int64           `json:"took_ns"`
	Requests int64           `json:"requests"` // to the store
	Bytes    int64           `json:"bytes"`    // that were read
	Files    int64           `json:"files"`    // of roll-ups
	Read     int64           `json:"read"`     // rows of roll-ups
	Missing  []MissingPart   `json:"missing"`  // what could not be read; the first ones
	Lacking  int             `json:"lacking"`  // how many could not
	Total    int             `json:"total"`    // rows; those that are not here are the least
	Rows     json.RawMessage `json:"rows"`     // as the verbs of shadow fleet print them in JSON; of versions, the comparison
}

// MissingPart is something that should have been read.
type MissingPart struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// mostMissing bounds what an answer names.
const mostMissing = 5

// question is one of the page's.
type question func(ctx context.Context, st *fleet.Store, q *fleet.Question, span fleet.Span, p url.Values) (rows json.RawMessage, total int, err error)

// rowsOf are rows as shadow fleet prints them.
func rowsOf[R any](rows []R, columns []listing.Column[R]) (json.RawMessage, int, error) {
	var b bytes.Buffer
	err := listing.All(listing.JSONLines(&b, columns), rows[:min(len(rows), mostServiceRows)])
	return b.Bytes(), len(rows), err
}

// questions are the page's, by address.
var questions = map[string]question{
	"/services.json": func(ctx context.Context, st *fleet.Store, q *fleet.Question, span fleet.Span, p url.Values) (json.RawMessage, int, error) {
		by, sort := fleet.By(p.Get("by")), p.Get("sort")
		if by == "" {
			by = fleet.Class
		}
		if sort == "" {
			sort = "work"
		}
		if !slices.Contains(fleet.All, by) {
			return nil, 0, &fleet.Wrong{Part: "by", Value: string(by), Why: "use " + text.OneOf(fleet.All)}
		}
		if _, ok := fleet.Weights[sort]; !ok {
			return nil, 0, &fleet.Wrong{Part: "sort", Value: sort, Why: "use " + text.OneOf(fleet.Sorts())}
		}
		rows, err := st.Top(ctx, q, span, by, sort)
		if err != nil {
			return nil, 0, err
		}
		return rowsOf(rows, fleet.TopColumns(by, rows))
	},
	"/services/findings.json": func(ctx context.Context, st *fleet.Store, q *fleet.Question, span fleet.Span, _ url.Values) (json.RawMessage, int, error) {
		list, err := st.Findings(ctx, q, span)
		if err != nil {
			return nil, 0, err
		}
		return rowsOf(listing.Refs(list), fleet.FindingColumns())
	},
	"/services/outliers.json": func(ctx context.Context, st *fleet.Store, q *fleet.Question, span fleet.Span, _ url.Values) (json.RawMessage, int, error) {
		list, err := st.Outliers(ctx, q, span)
		if err != nil {
			return nil, 0, err
		}
		return rowsOf(listing.Refs(list), fleet.OutlierColumns())
	},
	"/services/trends.json": func(ctx context.Context, st *fleet.Store, q *fleet.Question, span fleet.Span, _ url.Values) (json.RawMessage, int, error) {
		list, err := st.Trends(ctx, q, span)
		if err != nil {
			return nil, 0, err
		}
		return rowsOf(listing.Refs(list), fleet.TrendColumns())
	},
	"/services/versions.json": func(ctx context.Context, st *fleet.Store, q *fleet.Question, span fleet.Span, p url.Values) (json.RawMessage, int, error) {
		if len(q.Services) != 1 {
			return nil, 0, &fleet.Wrong{Why: "service: name one"}
		}
		d, err := st.Versions(ctx, q, span, p.Get("a"), p.Get("b"))
		if err != nil {
			return nil, 0, err
		}
		total := len(d.Rows)
		d.Rows = d.Top(mostServiceRows)
		b, err := json.Marshal(d)
		return b, total, err
	},
}

// escapeGlob makes a pattern that only a name itself matches.
var escapeGlob = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

// asked reads a request.
func asked(r *http.Request) (q fleet.Question, p url.Values, err error) {
	p = url.Values{}
	for _, name := range []string{"service", "last", "by", "sort", "a", "b", "version"} {
		v := r.URL.Query().Get(name)
		if len(v) > maxPart || !utf8.ValidString(v) {
			return q, p, badRequest(name + ": it is too long or no text")
		}
		if v != "" {
			p.Set(name, v)
		}
	}
	q.Last = "7d"
	if p.Has("last") {
		q.Last = p.Get("last")
	}
	if p.Has("service") {
		q.Services = []string{escapeGlob.Replace(p.Get("service"))}
	}
	q.Select.Version = escapeGlob.Replace(p.Get("version"))
	if rights := rightsOf(r); !rights.All() {
		q.Sees = rights.Sees
	}
	return q, p, nil
}

// question answers one of the page's questions.
func (s *Server) question(w http.ResponseWriter, r *http.Request) {
	answer := questions[r.URL.Path]
	if s.o.Fleet == nil || answer == nil {
		plain(w, http.StatusNotFound, "this shadow keeps no fleet: start it with --store s3://BUCKET/PREFIX")
		return
	}
	q, p, err := asked(r)
	var span fleet.Span
	if err == nil {
		span, err = q.Check(s.o.Now())
	}
	if err != nil {
		plain(w, http.StatusBadRequest, text.Clean(err.Error(), utf8.RuneError))
		return
	}
	long(w, questionTime+requestTimeout)
	rights := rightsOf(r)
	key := r.URL.Path + "?" + p.Encode() + "\n" + rights.Scope()
	body, err := s.answers.get(r.Context(), key, s.o.Now, func(ctx context.Context) ([]byte, error) { return s.answer(ctx, answer, &q, span, p) })
	var wrong *fleet.Wrong
	switch {
	case r.Context().Err() != nil:
		return // nobody waits any more
	case errors.As(err, &wrong):
		plain(w, http.StatusBadRequest, text.Clean(err.Error(), utf8.RuneError))
		return
	case errors.Is(err, context.DeadlineExceeded):
		plain(w, http.StatusServiceUnavailable, fmt.Sprintf("there is no answer within %v: ask about less time or one service, or use shadow fleet", questionTime))
		return
	case errors.Is(err, fleet.ErrNothing):
		plain(w, http.StatusNotFound, text.OneLine(err.Error()))
		return
	case err != nil:
		s.o.Note("a question over the services: %v", err)
		plain(w, http.StatusServiceUnavailable, text.OneLine(err.Error()))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client has gone; nothing to do
}

func (s *Server) answer(ctx context.Context, answer question, q *fleet.Question, span fleet.Span, p url.Values) ([]byte, error) {
	began := time.Now()
	st := &fleet.Store{Objects: s.o.Fleet.Objects, Now: s.o.Now}
	rows, total, err := answer(ctx, st, q, span, p)
	if err != nil {
		return nil, err
	}
	a := Answer{From: rfc3339(span.From), To: rfc3339(span.To), Asked: rfc3339(s.o.Now()), TookNs: int64(time.Since(began)),
		Requests: st.Cost.Requests, Bytes: st.Cost.Bytes, Files: st.Cost.Files, Read: st.Cost.Rows, Lacking: len(st.Cost.Missing),
		Missing: missing(st.Cost.Missing, q.Sees == nil), Total: total, Rows: rows}
	var b bytes.Buffer
	err = writeJSON(&b, a)
	return b.Bytes(), err
}

// missing names what an answer lacks: not to those who may not see all, since keys hold the names of services.
func missing(list []rollup.Missing, named bool) []MissingPart {
	parts := make([]MissingPart, 0, mostMissing)
	for _, m := range list[:min(len(list), mostMissing)] {
		if named {
			parts = append(parts, MissingPart{text.OneLine(m.Key), text.OneLine(m.Why)})
		}
	}
	return parts
}

// servicesPage shows the services of the fleet.
func (s *Server) servicesPage(w http.ResponseWriter, _ *http.Request) {
	if s.o.Fleet == nil {
		plain(w, http.StatusNotFound, "this shadow keeps no fleet: start it with --store s3://BUCKET/PREFIX")
		return
	}
	s.shell(w, servicesShell, "", "services")
}
