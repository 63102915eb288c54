package wire

// Limits on the extra metrics of a session.
const MaxExtra = 8

// Extra is a work metric beside wall and CPU time. Its place in Hello.Extra is
// its place in every list of work columns of the session.
type Extra struct {
	Name string // "bytecodes", "alloc", "instructions", "cycles", "ref_cycles", or the name of a perf event
	Unit string // "" for a count, "bytes"
	How  string // how it is read: "woven", "thread-local buffer", "rdpmc", "read"
}

// Work holds the extra metrics of a batch's records in columns, one for each
// entry of Hello.Extra, or none at all where there are no extra metrics. Each
// column is as long as the records it belongs to; a value that was not
// measured is units.NotMeasured.
type Work struct {
	Total  [][]int64 // between start and end of the execution (or construction)
	Nested [][]int64 // of this, in the executions nested directly in it; empty for constructions
}

// NoSubmission are the flags of records that are no submissions.
const NoSubmission = Cancelled | Asked | Forgotten

func (w *writer) extra(x *Extra) {
	w.arrayLen(3)
	w.str(x.Name)
	w.str(x.Unit)
	w.str(x.How)
}

func (r *reader) extra(field string) (x Extra) {
	end := r.fields(field, 3)
	x.Name = r.str(field + ".name")
	x.Unit = r.str(field + ".unit")
	x.How = r.str(field + ".how")
	end()
	return x
}
