package wire

import "stackagent/internal/units"

// MaxFrames is the largest number of frames of a context.
const MaxFrames = 64

// ContextKind says what happened in a calling context.
type ContextKind uint8

// The kinds; equal to SA_PATH_*.
const (
	ContextCreation   ContextKind = iota
	ContextSubmission             // by the program, not inside another hand-over
	ContextExecution
	NumContextKinds
)

// Contexts are what a batch tells of calling contexts (option contexts=).
type Contexts struct {
	Account  ContextAccount
	Frames   []Frame
	Contexts []Context
	Sums     []ContextSum
}

// ContextAccount says how the contexts came about; all but Every are running sums.
type ContextAccount struct {
	Every  uint64 // of each thread, and of each kind, one event in so many is looked at; 0: none
	Taken  uint64 // events looked at
	Lost   uint64 // of these: no room for a further context
	Unseen uint64 // of these: the JVM did not give the stack
}

// Frame is a place on a stack.
type Frame struct {
	ID     uint32 // session-wide, never reused; 0 is not a frame
	Class  string // Java name, "": not known
	Method string // the same
	File   string // "" where the class file does not say
	Line   int32  // 0 where the class file does not say
}

// Context is a stack on which tasks of a class were created, handed over or executed.
type Context struct {
	ID     uint32 // session-wide, never reused; 0 is not a context
	Kind   ContextKind
	Class  uint32   // of the task
	Cut    bool     // the stack goes on beyond Frames
	Frames []uint32 // Frame.ID, innermost first, 0: not known; at most MaxFrames
}

// ContextSum is what was added to a context since it was told before: of the
// events looked at, not of all.
type ContextSum struct {
	ID       uint32      // Context.ID
	Count    uint64      // events; executions that have ended
	Wall     units.Ticks // of executions: their own, that of nested ones taken out
	Measured uint64      // of how many of them the CPU time is known
	CPU      units.Ns    // the same of these
}

const accountFields, frameFields, contextFields, sumFields = 4, 5, 5, 5

func (w *writer) account(x *ContextAccount) {
	w.arrayLen(accountFields)
	w.uint(x.Every)
	w.uint(x.Taken)
	w.uint(x.Lost)
	w.uint(x.Unseen)
}

func (r *reader) account(field string) (x ContextAccount) {
	end := r.fields(field, accountFields)
	x.Every = r.uint(field + ".every")
	x.Taken = r.uint(field + ".taken")
	x.Lost = r.uint(field + ".lost")
	x.Unseen = r.uint(field + ".unseen")
	end()
	return x
}

func (w *writer) frame(x *Frame) {
	s := Site(*x)
	w.site(&s)
}

func (r *reader) frame(field string) Frame { return Frame(r.site(field)) }

func (w *writer) context(x *Context) {
	w.arrayLen(contextFields)
	w.uint(uint64(x.ID))
	w.uint(uint64(x.Kind))
	w.uint(uint64(x.Class))
	w.bool(x.Cut)
	each(w, x.Frames, func(w *writer, id *uint32) { w.uint(uint64(*id)) })
}

func (r *reader) context(field string) (x Context) {
	end := r.fields(field, contextFields)
	x.ID = uint32(r.uintMax(field+".id", 1<<32-1))
	x.Kind = ContextKind(r.uintMax(field+".kind", 1<<8-1))
	x.Class = uint32(r.uintMax(field+".class", 1<<32-1))
	x.Cut = r.bool(field + ".cut")
	n := r.length(field+".frames", r.mp.DecodeArrayLen)
	if r.err == nil && n > MaxFrames {
		r.fail(field+".frames", "more than a context has", nil)
	}
	for i := 0; i < n && r.err == nil; i++ {
		x.Frames = append(x.Frames, uint32(r.uintMax(field+".frame", 1<<32-1)))
	}
	end()
	return x
}

func (w *writer) contextSum(x *ContextSum) {
	w.arrayLen(sumFields)
	w.uint(uint64(x.ID))
	w.uint(x.Count)
	w.uint(uint64(x.Wall))
	w.uint(x.Measured)
	w.int(int64(x.CPU))
}

func (r *reader) contextSum(field string) (x ContextSum) {
	end := r.fields(field, sumFields)
	x.ID = uint32(r.uintMax(field+".id", 1<<32-1))
	x.Count = r.uint(field + ".count")
	x.Wall = units.Ticks(r.uint(field + ".wall"))
	x.Measured = r.uint(field + ".measured")
	x.CPU = units.Ns(r.int(field + ".cpu"))
	end()
	return x
}

// decodeContexts reads the lists of contexts; false: key is none of theirs.
func (r *reader) decodeContexts(key string, into *Contexts) bool {
	switch key {
	case keyFrames:
		into.Frames = listOf(r, "frames", (*reader).frame)
	case keyContexts:
		into.Contexts = listOf(r, "contexts", (*reader).context)
	case keyContextSums:
		into.Sums = listOf(r, "context sums", (*reader).contextSum)
	case keyAccount:
		into.Account = r.account("account of contexts")
	default:
		return false
	}
	return true
}

// longest is the longest of the lists.
func (x *Contexts) longest() int { return max(len(x.Frames), len(x.Contexts), len(x.Sums)) }

func (x *Contexts) check() error {
	for i := range x.Contexts {
		if len(x.Contexts[i].Frames) > MaxFrames {
			return ErrTooMany
		}
	}
	return nil
}
