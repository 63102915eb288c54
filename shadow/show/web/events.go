package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/shadow/show/live"
	"stackagent/shadow/show/web/access"
)

// LiveView is where the live pages and figures come from; *live.Live is one.
type LiveView interface {
	Fleet() *live.Fleet
	JVM(folder string) *live.JVM                                  // nil: there is none
	WriteMetrics(w *bytes.Buffer, sees func(service string) bool) // nil: those of all services
}

// sees is what the rights are to the live view; nil: everything.
func sees(rights access.Rights) func(service string) bool {
	if rights.All() {
		return nil
	}
	return rights.Sees
}

// visible is the fleet without the JVMs that may not be seen. It says nothing of how many there are.
func visible(f *live.Fleet, sees func(service string) bool) *live.Fleet {
	if sees == nil {
		return f
	}
	part := &live.Fleet{NowMs: f.NowMs, JVMs: []live.Row{}}
	for i := range f.JVMs {
		if sees(f.JVMs[i].Service) {
			part.JVMs = append(part.JVMs, f.JVMs[i])
		}
	}
	return part
}

const noJVM = "no JVM with this folder runs, or ended lately"

// Limits of the event stream.
const (
	eventInterval  = time.Second
	eventHeartbeat = 10 * time.Second
	eventQueue     = 4 // snapshots that wait for a browser; one that takes none of them is dropped
)

// place is what a stream shows: a JVM, or the fleet as some rights allow.
type place struct {
	folder string // "": the fleet
	rights string // access.Rights.Key, of the fleet; "": all of it
}

// frame is a snapshot as it goes to browsers.
type frame struct {
	id   uint64
	data []byte
	last bool // the session has ended: nothing follows
}

// feed is what the browsers that watch one thing have in common: a snapshot is encoded once.
type feed struct {
	watchers map[chan frame]struct{}
	newest   frame
	sees     func(service string) bool // of the fleet; nil: all
}

// hub sends a snapshot each second while anybody watches.
type hub struct {
	live LiveView
	boot string // tells this shadow's ids from an earlier one's
	wait func() (tick <-chan time.Time, stop func())

	mu    sync.Mutex
	feeds map[place]*feed
	open  int  // watchers
	runs  bool // run does
	id    uint64
}

func newHub(v LiveView, now time.Time) *hub {
	return &hub{live: v, boot: strconv.FormatInt(now.UnixNano(), 36), feeds: map[place]*feed{}, wait: func() (<-chan time.Time, func()) {
		t := timers.NewTicker(eventInterval)
		return t.C, t.Stop
	}}
}

// watch adds a watcher; false: there is no such JVM.
func (h *hub) watch(key place, sees func(service string) bool) (c chan frame, known bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[key]
	if f == nil {
		f = &feed{watchers: map[chan frame]struct{}{}, sees: sees}
		if !h.take(key, f) {
			return nil, false
		}
		h.feeds[key] = f
	}
	c = make(chan frame, eventQueue)
	c <- f.newest
	f.watchers[c] = struct{}{}
	h.open++
	if !h.runs {
		h.runs = true
		go h.run()
	}
	return c, true
}

// take makes a new snapshot; false: there is nothing to show.
func (h *hub) take(key place, f *feed) bool {
	var v any
	last := false
	if key.folder == "" {
		v = visible(h.live.Fleet(), f.sees)
	} else {
		j := h.live.JVM(key.folder)
		if j == nil {
			return false
		}
		v, last = j, j.Row.Ended != ""
	}
	var b bytes.Buffer
	h.id++
	fmt.Fprintf(&b, "id: %s-%d\ndata: ", h.boot, h.id)
	if err := json.NewEncoder(text.JSON(&b)).Encode(v); err != nil { // of a defect only: the types are ours
		return false
	}
	b.WriteByte('\n')
	if last {
		b.WriteString("event: end\ndata: {}\n\n")
	}
	f.newest = frame{id: h.id, data: b.Bytes(), last: last}
	return true
}

// leave removes a watcher, unless it has been dropped.
func (h *hub) leave(key place, c chan frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[key]; f != nil {
		if _, ok := f.watchers[c]; ok {
			h.remove(key, f, c)
		}
	}
}

func (h *hub) remove(key place, f *feed, c chan frame) {
	delete(f.watchers, c)
	close(c)
	h.open--
	if len(f.watchers) == 0 {
		delete(h.feeds, key)
	}
}

// run sends until nobody watches.
func (h *hub) run() {
	tick, stop := h.wait()
	defer stop()
	for range tick {
		if !h.send() {
			return
		}
	}
}

// send makes a snapshot for each feed and gives it to all who watch; who still has the last ones
// is dropped. It reports whether anybody is left.
func (h *hub) send() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, f := range h.feeds {
		if !h.take(key, f) { // the JVM ended long ago
			f.newest = frame{id: h.id, data: []byte("event: end\ndata: {}\n\n"), last: true}
		}
		for c := range f.watchers {
			select {
			case c <- f.newest:
				if f.newest.last {
					h.remove(key, f, c)
				}
			default:
				h.remove(key, f, c)
			}
		}
	}
	h.runs = h.open > 0
	return h.runs
}

// events streams snapshots: /events?fleet, or /events?jvm=FOLDER. Each is whole, so that a browser that comes back
// only needs the newest.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	key := place{folder: q.Get("jvm")}
	if s.hub == nil || q.Has("fleet") == q.Has("jvm") || q.Has("jvm") && key.folder == "" {
		plain(w, http.StatusNotFound, "ask for /events?fleet or /events?jvm=FOLDER")
		return
	}
	rights := rightsOf(r)
	may := sees(rights)
	switch {
	case may == nil:
	case key.folder == "":
		key.rights = rights.Key()
	default:
		if j := s.o.Live.JVM(key.folder); j == nil || !may(j.Row.Service) {
			plain(w, http.StatusNotFound, noJVM)
			return
		}
	}
	st, closed, ok := s.openStream(w)
	if !ok {
		return
	}
	defer closed()
	c, known := s.hub.watch(key, may)
	if !known {
		plain(w, http.StatusNotFound, noJVM)
		return
	}
	defer s.hub.leave(key, c)
	w.Header().Set("X-Accel-Buffering", "no") // a proxy is not to collect them
	if r.Method == http.MethodHead {
		return
	}
	s.follow(st, r, c)
}

// follow sends what comes on c until the browser goes, takes too long, or nothing follows.
func (s *Server) follow(st *stream, r *http.Request, c <-chan frame) {
	if st.send([]byte("retry: 2000\n\n")) != nil {
		return
	}
	seen := s.hub.number(r.Header.Get("Last-Event-ID"))
	quiet := time.NewTimer(eventHeartbeat)
	defer quiet.Stop()
	for {
		event := []byte(": still here\n\n")
		last := false
		select {
		case <-r.Context().Done():
			return
		case <-quiet.C:
		case f, ok := <-c:
			if !ok {
				return
			}
			if f.id <= seen && !f.last { // it has that one
				continue
			}
			event, last = f.data, f.last
		}
		if st.send(event) != nil || last {
			return
		}
		quiet.Reset(eventHeartbeat)
	}
}

// number is that of an id of this shadow; 0: of another one, or none.
func (h *hub) number(id string) uint64 {
	boot, n, _ := strings.Cut(id, "-")
	if boot != h.boot {
		return 0
	}
	v, err := strconv.ParseUint(n, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// liveJSON is the fleet for scripts, liveJVM one JVM.
func (s *Server) liveJSON(w http.ResponseWriter, r *http.Request) {
	if s.o.Live == nil {
		plain(w, http.StatusNotFound, "there are no live figures")
		return
	}
	s.sendJSON(w, visible(s.o.Live.Fleet(), sees(rightsOf(r))))
}

func (s *Server) liveJVM(w http.ResponseWriter, r *http.Request) {
	folder, ok := strings.CutSuffix(r.PathValue("file"), ".json")
	if !ok || s.o.Live == nil {
		plain(w, http.StatusNotFound, "ask for /live/FOLDER.json")
		return
	}
	v, rights := s.o.Live.JVM(folder), rightsOf(r)
	if v == nil || !rights.Sees(v.Row.Service) {
		plain(w, http.StatusNotFound, noJVM)
		return
	}
	s.sendJSON(w, v)
}

func (s *Server) sendJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(text.JSON(w)).Encode(v) // the client has gone; nothing to do
}
