package wire

import "stackagent/internal/label"

// How many fields labels have.
const labelsFields = 5

func (w *writer) labels(l *label.Labels) {
	w.arrayLen(labelsFields)
	for _, f := range label.Fields {
		w.str(*f.Of(l))
	}
	w.mapLen(len(l.Free))
	for _, k := range l.Keys() {
		w.str(k)
		w.str(l.Free[k])
	}
}

// labels leaves out what is out of bounds.
func (r *reader) labels() label.Labels {
	end := r.fields("hello.labels", labelsFields)
	var l label.Labels
	for _, f := range label.Fields {
		*f.Of(&l) = r.str("hello.labels")
	}
	n := r.length("hello.labels", r.mp.DecodeMapLen)
	for i := 0; i < n && r.err == nil; i++ {
		key := r.str("hello.labels")
		l.Add(key, r.str("hello.labels"))
	}
	end()
	return l.Valid()
}
