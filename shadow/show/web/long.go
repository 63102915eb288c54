package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// long gives an answer more time than others. While the handler works, the server watches for the client to go away:
// the time for reading a request must not end that.
func long(w http.ResponseWriter, d time.Duration) {
	end := http.NewResponseController(w)
	_ = end.SetReadDeadline(time.Time{}) // a recorder in a test has none
	_ = end.SetWriteDeadline(time.Now().Add(d))
}

const retryAfter = 2 // seconds

// busy asks a client to come again.
func busy(w http.ResponseWriter, why string) {
	w.Header().Set("Retry-After", strconv.Itoa(retryAfter))
	plain(w, http.StatusServiceUnavailable, why)
}

const (
	// maxStreams leaves connections for other requests.
	maxStreams = 64
	// slowTime is how long a browser may take for an event before it is dropped; it comes again by itself.
	slowTime = 5 * time.Second
)

// stream is an answer that goes on: server-sent events.
type stream struct {
	w   http.ResponseWriter
	end *http.ResponseController
}

// openStream begins one. The handler calls close when it ends; if there are too many, it has been answered.
func (s *Server) openStream(w http.ResponseWriter) (st *stream, closed func(), ok bool) {
	select {
	case s.streams <- struct{}{}:
	default:
		busy(w, "too many pages are open; close one")
		return nil, nil, false
	}
	long(w, slowTime)
	w.Header().Set("Content-Type", "text/event-stream")
	return &stream{w, http.NewResponseController(w)}, func() { <-s.streams }, true
}

// send writes one or more whole events. An error means that the browser is gone or too slow.
func (st *stream) send(events []byte) error {
	_ = st.end.SetWriteDeadline(time.Now().Add(slowTime)) // a recorder in a test has none
	if _, err := st.w.Write(events); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	if err := st.end.Flush(); err != nil {
		return fmt.Errorf("sending an event: %w", err)
	}
	return nil
}
