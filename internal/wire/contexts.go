package wire

// MaxFrames is the largest number of frames of a context.
const MaxFrames = 64

// MaxNearFrames is the largest number of frames of a stack that ends with the program's nearest frame. It is cut, as a stack of MaxFrames may be.
const MaxNearFrames = 32

// Contexts are what a batch holds of calling contexts (option contexts=).
type Contexts struct {
	Account  ContextSampling
	Frames   []Frame
	Contexts []Context
	Sums     []ContextSum
}

// ContextSampling says how the contexts came about; all but Every are running sums.
type ContextSampling struct {
	Every  uint64 // of each thread, and of each kind, one event in so many is looked at; 0: none
	Taken  uint64 // events looked at
	Lost   uint64 // of these: no room for a further context
	Unseen uint64 // of these: the JVM did not give the stack
}

const accountFields = 4

func (w *writer) account(x *ContextSampling) {
	w.arrayLen(accountFields)
	w.uint(x.Every)
	w.uint(x.Taken)
	w.uint(x.Lost)
	w.uint(x.Unseen)
}

func (r *reader) account(field string) (x ContextSampling) {
	end := r.fields(field, accountFields)
	x.Every = r.uint(field + ".every")
	x.Taken = r.uint(field + ".taken")
	x.Lost = r.uint(field + ".lost")
	x.Unseen = r.uint(field + ".unseen")
	end()
	return x
}

func (x *Contexts) check() error {
	for i := range x.Contexts {
		if len(x.Contexts[i].Frames) > MaxFrames {
			return ErrTooMany
		}
	}
	return nil
}

// ids are the frames of a context.
func (w *writer) ids(list []uint32) {
	each(w, list, func(w *writer, id *uint32) { w.uint(uint64(*id)) })
}

func (r *reader) ids(field string) (list []uint32) {
	n := r.length(field, r.mp.DecodeArrayLen)
	if r.err == nil && n > MaxFrames {
		r.fail(field, "more than a context has", nil)
	}
	for i := 0; i < n && r.err == nil; i++ {
		list = append(list, uint32(r.uintMax(field, 1<<32-1)))
	}
	return list
}
