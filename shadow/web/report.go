package web

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/shadow/ingest"
	"stackagent/shadow/report"
	"stackagent/shadow/store"
)

// ReportName is the file of a report in its session's folder.
const ReportName = "report.html"

// reportTimeout bounds the making of a report and its way to the browser.
const reportTimeout = 2 * time.Minute

// report shows the report of an ended session. The first request makes it.
func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	folder, ok := s.ended(r.PathValue("folder"))
	if !ok || s.o.Report == nil {
		plain(w, http.StatusNotFound, "no ended session has this name")
		return
	}
	end := http.NewResponseController(w)
	_ = end.SetWriteDeadline(time.Now().Add(reportTimeout)) // a recorder in a test has none
	f, err := s.openReport(r, folder)
	switch {
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "5")
		plain(w, http.StatusServiceUnavailable, "the shadow is making another report; reload this page in a moment")
		return
	case err != nil:
		s.o.Note("report of %s for the live page: %v", folder, err)
		plain(w, http.StatusInternalServerError, "the report cannot be made; the shadow's log says why")
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		plain(w, http.StatusNotFound, "there is no report")
		return
	}
	w.Header().Set("Content-Security-Policy", report.Policy()+"; frame-ancestors 'none'")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	http.ServeContent(w, r, "", info.ModTime(), f)
}

// ended returns the folder of a known, ended session. Text from the request is only
// compared, never used as a path.
func (s *Server) ended(asked string) (folder string, ok bool) {
	all := s.o.Sessions()
	i := slices.IndexFunc(all, func(p ingest.Progress) bool { return p.Folder == asked && p.Ended != store.EndedRunning })
	if i < 0 {
		return "", false
	}
	return all[i].Folder, true
}

// reading opens a file; a pipe does not block it.
const reading = os.O_RDONLY | unix.O_NONBLOCK

var errBusy = errors.New("another report is being made")

// openReport opens the report and remakes it if it is older than the session. Links
// cannot lead out of the store.
func (s *Server) openReport(r *http.Request, folder string) (*os.File, error) {
	root, err := os.OpenRoot(s.o.Store)
	if err != nil {
		return nil, fmt.Errorf("opening the store: %w", err)
	}
	defer root.Close()
	name := path.Join(folder, ReportName)
	manifest, err := root.Stat(path.Join(folder, store.ManifestName))
	if err != nil {
		return nil, fmt.Errorf("looking for the session: %w", err)
	}
	if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() && info.ModTime().After(manifest.ModTime()) {
		return root.OpenFile(name, reading, 0)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("looking for the report: %w", err)
	}
	select {
	case s.building <- struct{}{}:
		defer func() { <-s.building }()
	default:
		return nil, errBusy
	}
	if err := s.o.Report(r.Context(), filepath.Join(s.o.Store, folder)); err != nil {
		return nil, err
	}
	return root.OpenFile(name, reading, 0)
}
