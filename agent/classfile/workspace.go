package classfile

import "unsafe"

// A Workspace holds the memory of the classes that are parsed in it, one after the other: rewriting thousands of
// classes takes the memory of the largest, and makes almost no garbage. It belongs to one goroutine. Its zero value is
// ready for use.
type Workspace struct {
	members     slab[Member]
	attributes  slab[Attribute]
	codes       slab[Code]
	insns       slab[Insn]
	insnRefs    slab[*Insn]
	labels      slab[Label]
	labelRefs   slab[*Label]
	frames      slab[Frame]
	types       slab[VerificationType]
	handlers    slab[Handler]
	handlerRefs slab[*Handler]
	lines       slab[LineNumber]
	variables   slab[LocalVariable]
	offsets     slab[int32]
	buckets     slab[uint16]
	bytes       slab[byte]
	begins      []bool // of the method that is being decoded
	code        []byte // of the method that is being encoded
	class       []byte // the part after the pool of the class that is being written
	entry       []byte // of the pool, to be looked up
}

// Parse is the function Parse in the memory of w. The class and everything obtained from it live until the next Reset,
// except strings and the result of Write.
func (w *Workspace) Parse(b []byte) (*Class, error) { return parse(w, b) }

// Reset frees the memory of the classes that were parsed before.
func (w *Workspace) Reset() {
	w.members.reset()
	w.attributes.reset()
	w.codes.reset()
	w.insns.reset()
	w.insnRefs.reset()
	w.labels.reset()
	w.labelRefs.reset()
	w.frames.reset()
	w.types.reset()
	w.handlers.reset()
	w.handlerRefs.reset()
	w.lines.reset()
	w.variables.reset()
	w.offsets.reset()
	w.buckets.reset()
	w.bytes.reset()
	for _, b := range []*[]byte{&w.code, &w.class, &w.entry} {
		if cap(*b) > mostKeptBytes {
			*b = nil
		}
	}
}

const (
	slabStart     = 32      // entries of a slab's first block
	mostKeptBytes = 2 << 20 // of a slab or a buffer that is kept for the next class
)

// slab cuts pieces from a block. A full block belongs to the owners of its pieces.
type slab[T any] struct {
	block []T
	used  int
}

// take returns n zero values; appending to them copies them.
func (s *slab[T]) take(n int) []T {
	if n > len(s.block)-s.used {
		s.block, s.used = make([]T, max(n, 2*len(s.block), slabStart)), 0
	}
	s.used += n
	return s.block[s.used-n : s.used : s.used]
}

// one returns a pointer to a zero value.
func (s *slab[T]) one() *T { return &s.take(1)[0] }

func (s *slab[T]) reset() {
	var one T
	if len(s.block)*int(unsafe.Sizeof(one)) > mostKeptBytes {
		s.block = nil
	} else {
		clear(s.block[:s.used])
	}
	s.used = 0
}
