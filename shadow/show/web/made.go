package web

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"stackagent/internal/text"
	"stackagent/shadow/store"
)

// Files in a session's folder that are made from it for the page, and made again when it has changed.
const (
	DataName = "page.json.gz"
	FileName = "page.html.gz"
)

const (
	// makeTime bounds the making of a report, sendTime its way to the browser.
	makeTime = 10 * time.Minute
	sendTime = 2 * time.Minute
	// keepTime is how long a report of a running session is shown before it is made again.
	keepTime  = 5 * time.Second
	flushTime = 3 * time.Second
	// maxMade bounds what is unpacked for a client that takes no gzip: the file may have come with an imported session.
	maxMade = 1 << 30
)

// Maker writes something made from the session in the folder dir. It calls progress now and then.
type Maker func(ctx context.Context, dir string, w io.Writer, progress func(Progress)) error

// Progress is how far a Maker is: Done of Total, in rows.
type Progress struct {
	What  string `json:"what"`
	Done  uint64 `json:"done"`
	Total uint64 `json:"total"` // 0: not known
}

// kind is something that is made from a session.
type kind struct {
	name string // of its file
	mime string
	save bool // it is for a file of the user's
	make Maker
}

// job is the making of something.
type job struct {
	folder   string
	kind     string
	done     chan struct{}
	err      error // after done
	cancel   context.CancelFunc
	waiters  int
	progress Progress
}

var errBusy = errors.New("another report is being made")

// reading opens a file; a pipe does not block it.
const reading = os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW

func (s *Server) data(w http.ResponseWriter, r *http.Request) {
	s.serveMade(w, r, &kind{name: DataName, mime: "application/json", make: s.o.Data})
}

// file is a report in one file, for the user to keep.
func (s *Server) file(w http.ResponseWriter, r *http.Request) {
	s.serveMade(w, r, &kind{name: FileName, mime: "text/html; charset=utf-8", save: true, make: s.o.File})
}

// serveMade sends what is made from a session. The first request makes it; those that come meanwhile wait for it, too.
func (s *Server) serveMade(w http.ResponseWriter, r *http.Request, k *kind) {
	x, ok := s.findAny(w, r)
	if !ok {
		return
	}
	if k.make == nil || x.Damaged != "" {
		plain(w, http.StatusNotFound, "there is no report of this session")
		return
	}
	long(w, makeTime+sendTime)
	f, err := s.openMade(r.Context(), &x, k)
	switch {
	case errors.Is(err, errBusy):
		busy(w, "the shadow is making another report; try again in a moment")
		return
	case r.Context().Err() != nil:
		return // nobody waits any more
	case err != nil:
		s.o.Note("report of %s for the live page: %v", x.ID, err)
		plain(w, http.StatusServiceUnavailable, text.Clean("the report cannot be made: "+err.Error(), utf8.RuneError))
		return
	}
	defer f.Close()
	if k.save {
		w.Header().Set("Content-Disposition", attachment(x.fileName()+".html"))
	}
	w.Header().Set("Content-Type", k.mime)
	sendPacked(w, r, f)
}

// findAny finds a session of the store, or one in the bucket.
func (s *Server) findAny(w http.ResponseWriter, r *http.Request) (Row, bool) {
	if r.PathValue("session") != "" {
		return s.findStored(w, r)
	}
	return s.find(w, r)
}

// fileName is what a session is called as a file of the user's.
func (r *Row) fileName() string {
	if r.key != "" {
		return r.Session
	}
	return r.ID
}

// openMade opens what is made from a session, and makes it if it is older than that.
func (s *Server) openMade(ctx context.Context, x *Row, k *kind) (f *os.File, err error) {
	err = s.inStore(func(root *os.Root) error {
		if f, err = s.openFresh(root, x, k); f != nil || err != nil {
			return err
		}
		if err = s.wait(ctx, x, k); err != nil {
			return err
		}
		f, err = root.OpenFile(path.Join(x.ID, k.name), reading, 0)
		return err
	})
	return f, err
}

// openFresh opens it if it need not be made again; nil: it need.
func (s *Server) openFresh(root *os.Root, x *Row, k *kind) (*os.File, error) {
	changed := x.changed
	if x.key == "" {
		manifest, err := root.Stat(path.Join(x.ID, store.ManifestName))
		if err != nil {
			return nil, fmt.Errorf("looking for the session: %w", err)
		}
		changed = manifest.ModTime()
	}
	f, err := root.OpenFile(path.Join(x.ID, k.name), reading, 0)
	if err != nil {
		return nil, nil // a link that stands there is replaced
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && s.sameVersion(f) {
		age := s.o.Now().Sub(info.ModTime())
		grows := x.Running && x.key == "" // one in a bucket changes with its manifest only
		if grows && age < keepTime || !grows && info.ModTime().After(changed) {
			return f, nil
		}
	}
	f.Close()
	return nil, nil
}

// sameVersion reports whether this version of the program made a file: the page and its data belong together.
func (s *Server) sameVersion(f *os.File) bool {
	packed, err := gzip.NewReader(io.LimitReader(f, maxMade))
	return err == nil && packed.Comment == s.o.Version
}

// wait makes it, or waits until another request's is made.
func (s *Server) wait(ctx context.Context, x *Row, k *kind) error {
	s.mu.Lock()
	j := s.job
	switch {
	case j == nil:
		j = s.begin(x, k)
	case j.folder != x.ID || j.kind != k.name:
		s.mu.Unlock()
		return errBusy
	}
	j.waiters++
	s.mu.Unlock()
	var err error
	select {
	case <-j.done:
		err = j.err
	case <-ctx.Done():
		err = ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j.waiters--; j.waiters == 0 {
		j.cancel() // nobody waits any more
	}
	return err
}

// begin starts a job. The caller holds the lock.
func (s *Server) begin(x *Row, k *kind) *job {
	ctx, cancel := context.WithTimeout(context.Background(), makeTime)
	j := &job{folder: x.ID, kind: k.name, done: make(chan struct{}), cancel: cancel, progress: Progress{What: "starting"}}
	s.job, s.failure = j, failure{}
	go func() {
		defer cancel()
		err := s.build(ctx, x, k, j)
		s.mu.Lock()
		defer s.mu.Unlock()
		if j.err, s.job = err, nil; err != nil && j.waiters > 0 {
			s.failure = failure{folder: x.ID, text: err.Error()}
		}
		close(j.done)
	}()
	return j
}

// build makes it aside and gives it its name.
func (s *Server) build(ctx context.Context, x *Row, k *kind, j *job) error {
	if x.Running && x.key == "" && s.o.Flush != nil {
		flush, cancel := context.WithTimeout(ctx, flushTime)
		if err := s.o.Flush(flush, x.ID); err != nil {
			s.o.Note("the report of %s lacks the last seconds: %v", x.ID, err)
		}
		cancel()
	}
	from := filepath.Join(s.o.Store, x.ID)
	if x.key != "" {
		from = s.o.Fleet.Path(x.key)
	}
	return s.inStore(func(root *os.Root) error {
		if err := makeRoom(root, x); err != nil {
			return err
		}
		aside := path.Join(x.ID, ".tmp-"+k.name)
		if err := root.Remove(aside); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the rest of a report: %w", err)
		}
		f, err := root.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("making room for a report: %w", err)
		}
		packed, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
		if err == nil {
			packed.Comment = s.o.Version
			err = k.make(ctx, from, packed, func(p Progress) { s.note(j, p) })
			err = errors.Join(err, packed.Close())
		}
		err = errors.Join(err, f.Close())
		if err == nil {
			err = root.Rename(aside, path.Join(x.ID, k.name))
		}
		if err != nil {
			return errors.Join(err, root.Remove(aside))
		}
		return nil
	})
}

func (s *Server) note(j *job, p Progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j.progress = p
}

// failure is the last thing that could not be made.
type failure struct{ folder, text string }

// progress is how far the report of a session is.
func (s *Server) progress(w http.ResponseWriter, r *http.Request) {
	x, ok := s.findAny(w, r)
	if !ok {
		return
	}
	var answer struct {
		State string `json:"state"` // making, waiting (another report is being made), failed, or idle
		Progress
		Error string `json:"error,omitempty"`
	}
	s.mu.Lock()
	switch j := s.job; {
	case j != nil && j.folder == x.ID:
		answer.State, answer.Progress = "making", j.progress
	case j != nil:
		answer.State = "waiting"
	case s.failure.folder == x.ID:
		answer.State, answer.Error = "failed", s.failure.text
	default:
		answer.State = "idle"
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = writeJSON(w, answer) // the client has gone; nothing to do
}

// sendPacked sends a gzip file as it is, or unpacked to a client that does not know gzip.
func sendPacked(w http.ResponseWriter, r *http.Request, f *os.File) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		plain(w, http.StatusServiceUnavailable, "the report is no file")
		return
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "private, no-cache")
	tag := fmt.Sprintf("%x-%x", info.ModTime().UnixNano(), info.Size())
	if acceptsGzip(r) {
		h.Set("ETag", `"`+tag+`"`)
		h.Set("Content-Encoding", "gzip")
		http.ServeContent(w, r, "", info.ModTime(), f)
		return
	}
	h.Set("ETag", `"`+tag+`-plain"`)
	if r.Header.Get("If-None-Match") == h.Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, err = f.Seek(0, io.SeekStart)
	packed, err2 := gzip.NewReader(f)
	if err := errors.Join(err, err2); err != nil {
		plain(w, http.StatusServiceUnavailable, "the report is damaged")
		return
	}
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, io.LimitReader(packed, maxMade)); err != nil && r.Context().Err() == nil {
		panic(http.ErrAbortHandler) // what is cut off must not look whole
	}
}

func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, weight, _ := strings.Cut(part, ";")
		weight = strings.TrimRight(strings.ReplaceAll(weight, " ", ""), "0.")
		if strings.TrimSpace(coding) == "gzip" && weight != "q=" {
			return true
		}
	}
	return false
}
