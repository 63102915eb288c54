package record

import (
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// counted is a session with the process in whose threads events are counted.
type counted struct {
	*Counting
	progress ingest.Progress
}

// session is the process of a session; nil: it is not known, or forgotten.
func (w *Watcher) session(folder string) *Counting {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[folder].Counting
}

// counting reports whether events are counted in a session's process.
func (w *Watcher) counting(folder string) bool {
	x := w.session(folder)
	w.mu.Lock()
	defer w.mu.Unlock()
	return x != nil && x.why == nil
}

// running are the sessions that have not ended and whose process is counted in.
func (w *Watcher) running() []ingest.Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []ingest.Progress
	for _, s := range w.sessions {
		if s.Counting != nil && s.c != nil && s.progress.Ended == store.EndedRunning {
			list = append(list, s.progress)
		}
	}
	return list
}

// ended reports whether nothing more is counted of a session.
func (w *Watcher) ended(folder string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	x := w.sessions[folder].Counting
	return x == nil || x.over
}

// forgetSession drops what was counted of a session, which is written. A shadow of months remembers only that it was.
func (w *Watcher) forgetSession(folder string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.forgotten = append(w.forgotten, folder); len(w.forgotten) > maxKept {
		delete(w.sessions, w.forgotten[0])
		w.forgotten = w.forgotten[1:]
	}
	w.sessions[folder] = counted{}
}
