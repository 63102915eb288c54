package ingest

import "stackagent/shadow/store"

// dropped says that the worker must store nothing more: the shadow was
// killed, or the session is another shadow's.
func (w *worker) dropped() bool {
	if w.ingest.killed.Load() {
		return true
	}
	select {
	case <-w.source.lease.Lost():
		return true
	default:
		return false
	}
}

// guarded writes into the session's folder if the session is certainly ours,
// by the bus and, for shadows that use one store, by the folder's fence.
func (w *worker) guarded(write func() error) error {
	if err := w.source.lease.Check(); err != nil {
		return err
	}
	return w.fence.Do(write)
}

// tellMoved publishes that another shadow stores the session now.
func (w *worker) tellMoved() {
	if w.out != nil {
		w.pro.Ended = store.EndedElsewhere
		w.ingest.report(w.pro)
		w.leave()
	}
}
