package web

import (
	_ "embed"
	"html/template"
	"net/http"
	"path/filepath"
	"time"
	"unicode/utf8"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/ingest"
	"stackagent/shadow/store"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS []byte

// pageRows is how many sessions the page shows; sessions.json has all that the shadow
// still lists.
const pageRows = 500

// Row is a session in sessions.json.
type Row struct {
	Session    string   `json:"session"`
	Program    string   `json:"program"`
	Host       string   `json:"host"`
	PID        int      `json:"pid"`
	Executions uint64   `json:"executions"`   // received
	Creations  uint64   `json:"creations"`    // received
	Stored     uint64   `json:"stored"`       // both, on the disk
	PerSecond  *float64 `json:"per_second"`   // both, received lately; null: not known, or ended
	Lost       uint64   `json:"lost"`         // events
	Gaps       uint64   `json:"lost_batches"` // batches that never arrived
	State      string   `json:"state"`
	Running    bool     `json:"running"`
	LastBatch  string   `json:"last_batch"` // RFC 3339
	Folder     string   `json:"folder"`
	Report     string   `json:"report,omitempty"` // address of its report on this page
}

// rows are the sessions, the newest first.
func (s *Server) rows() []Row {
	sessions := s.o.Sessions()
	rows := make([]Row, 0, len(sessions))
	for i := len(sessions) - 1; i >= 0; i-- {
		rows = append(rows, s.row(&sessions[i]))
	}
	return rows
}

func (s *Server) row(p *ingest.Progress) Row {
	r := Row{
		Session: p.Session, Program: p.JVM.MainClass, Host: p.JVM.Host, PID: p.JVM.PID, Executions: p.Received.Executions,
		Creations: p.Received.Creations, Stored: p.Stored.Sum(), Lost: p.Lost.Events, Gaps: p.Lost.Batches, State: p.Ended,
		Running: p.Ended == store.EndedRunning, LastBatch: p.LastBatch.UTC().Format(time.RFC3339), Folder: filepath.Join(s.o.Store, p.Folder),
	}
	if perSecond, ok := s.rates.of(p.Folder); ok && r.Running {
		r.PerSecond = &perSecond
	}
	if r.Running {
		r.State = "running, last batch " + units.FormatNs(units.Ns(s.o.Now().Sub(p.LastBatch))) + " ago"
	} else if s.o.Report != nil {
		r.Report = "/sessions/" + p.Folder + "/report"
	}
	return r
}

func (s *Server) json(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, s.rows()) // the client has gone; nothing to do
}

func (s *Server) css(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=3600")
	_, _ = w.Write(pageCSS)
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	rows := s.rows()
	data := struct {
		Rows              []Row
		Shown             uint64
		Listed, Total     uint64 // in sessions.json; since the start
		Store, Bus, Fault string
	}{rows[:min(len(rows), pageRows)], uint64(min(len(rows), pageRows)), uint64(len(rows)), s.o.Totals().Sessions, s.o.Store, s.o.Bus, ""}
	if s.o.Healthy != nil {
		if err := s.o.Healthy(); err != nil {
			data.Fault = err.Error()
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pageTemplate.Execute(w, data)
}

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"exact": func(n uint64) string { return units.FormatExact(int64(n)) },
	"rate": func(perSecond *float64) string {
		if perSecond == nil {
			return ""
		}
		return units.FormatCount(int64(*perSecond+0.5)) + "/s"
	},
	"clean": func(s string) string { return text.Clean(s, utf8.RuneError) },
}).Parse(pageHTML))
