package kernel

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
)

// Where the heap, compiled code and classes of a JVM are. HotSpot describes its own structures to debuggers in a table
// (gHotSpotVMStructs in libjvm.so), with the address of each static variable: the serviceability agent reads it, and so does this.

// jvmMemory reads the regions of one JVM.
type jvmMemory struct {
	pid     int
	statics map[string]uint64 // "Universe._collectedHeap": address
	offsets map[string]uint64 // "MemRegion._start": offset in the structure
}

// structs of HotSpot: the fields that are needed.
var structFields = map[string]bool{
	"Universe._collectedHeap": true, "CollectedHeap._reserved": true, "MemRegion._start": true, "MemRegion._word_size": true,
	"CodeCache._low_bound": true, "CodeCache._high_bound": true,
	"CompressedKlassPointers._narrow_klass._base": true, "CompressedKlassPointers._base": true,
}

// Bounds on a table that anybody's process may hold.
const (
	maxStructs  = 20_000
	maxStructAt = 1 << 16 // offsets in a structure
	maxRegion   = 1 << 46 // bytes
	symbolBytes = 64
)

// tableSymbols are the variables that describe the table, in the order of tableShape.
var tableSymbols = [...]string{"gHotSpotVMStructs", "gHotSpotVMStructEntryTypeNameOffset", "gHotSpotVMStructEntryFieldNameOffset",
	"gHotSpotVMStructEntryIsStaticOffset", "gHotSpotVMStructEntryOffsetOffset", "gHotSpotVMStructEntryAddressOffset", "gHotSpotVMStructEntryArrayStride"}

type tableShape struct{ table, typeName, fieldName, isStatic, offset, address, stride uint64 }

// findJVM reads the table of the JVM that has libjvm.so mapped at base from path.
func findJVM(pid int, path string, base uint64) (*jvmMemory, error) {
	symbols, err := dynamicSymbols(proc.Process(pid).Path("root"+path), tableSymbols[:])
	if err != nil {
		return nil, err
	}
	j := &jvmMemory{pid: pid, statics: map[string]uint64{}, offsets: map[string]uint64{}}
	var shape tableShape
	for i, into := range []*uint64{&shape.table, &shape.typeName, &shape.fieldName, &shape.isStatic, &shape.offset, &shape.address, &shape.stride} {
		at, ok := symbols[tableSymbols[i]]
		if !ok {
			return nil, fmt.Errorf("libjvm.so has no %s", tableSymbols[i])
		}
		if *into, err = j.word(base + at); err != nil {
			return nil, err
		}
	}
	return j, j.readTable(shape)
}

// dynamicSymbols are the addresses of some symbols of a library, from its begin.
func dynamicSymbols(path string, names []string) (map[string]uint64, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file: %w", path, fs.ErrInvalid)
	}
	f, err := elf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	first := uint64(0)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			first = p.Vaddr
			break
		}
	}
	all, err := f.DynamicSymbols()
	if err != nil {
		return nil, err
	}
	found := map[string]uint64{}
	for _, s := range all {
		for _, name := range names {
			if s.Name == name {
				found[name] = s.Value - first
			}
		}
	}
	return found, nil
}

func (j *jvmMemory) readTable(s tableShape) error {
	if s.stride < 8 || s.stride > 1024 || max(s.typeName, s.fieldName, s.isStatic, s.offset, s.address) > s.stride-8 {
		return errors.New("the table of structures in libjvm.so has an unknown shape")
	}
	entry := make([]byte, s.stride)
	word := func(at uint64) uint64 { return binary.NativeEndian.Uint64(entry[at:]) }
	for n := range uint64(maxStructs) {
		if err := j.read(entry, s.table+n*s.stride); err != nil {
			return err
		}
		if word(s.typeName) == 0 {
			return nil
		}
		name, err := j.symbol(word(s.typeName))
		if err != nil {
			return err
		}
		if name != "Universe" && name != "CollectedHeap" && name != "MemRegion" && name != "CodeCache" && name != "CompressedKlassPointers" {
			continue
		}
		field, err := j.symbol(word(s.fieldName))
		if err != nil {
			return err
		}
		if name += "." + field; !structFields[name] {
			continue
		}
		if binary.NativeEndian.Uint32(entry[s.isStatic:]) != 0 {
			j.statics[name] = word(s.address)
		} else {
			j.offsets[name] = word(s.offset)
		}
	}
	return fmt.Errorf("the table of structures in libjvm.so has more than %d entries", maxStructs)
}

func (j *jvmMemory) read(into []byte, at uint64) error {
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: len(into)}}
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	n, err := unix.ProcessVMReadv(j.pid, local, remote, 0)
	if err == nil && n < len(into) {
		err = unix.EFAULT
	}
	if err != nil {
		return fmt.Errorf("reading the memory of process %d: %w", j.pid, err)
	}
	return nil
}

func (j *jvmMemory) word(at uint64) (uint64, error) {
	var b [8]byte
	err := j.read(b[:], at)
	return binary.NativeEndian.Uint64(b[:]), err
}

// symbol reads a name, which may lie at the end of what is mapped.
func (j *jvmMemory) symbol(at uint64) (string, error) {
	var b [symbolBytes]byte
	page := uint64(unix.Getpagesize())
	first := min(symbolBytes, page-at%page)
	if err := j.read(b[:first], at); err != nil {
		return "", err
	}
	if bytes.IndexByte(b[:first], 0) < 0 && first < symbolBytes {
		if err := j.read(b[first:], at+first); err != nil {
			return "", err
		}
	}
	name, _, _ := bytes.Cut(b[:], []byte{0})
	return string(name), nil
}

// regions are those that the JVM has set up so far.
func (j *jvmMemory) regions() []addresses {
	var all []addresses
	for _, find := range []func() (addresses, bool){j.heap, j.code} {
		if a, ok := find(); ok && a.from < a.to && a.to-a.from <= maxRegion {
			all = append(all, a)
		}
	}
	return all
}

// static is the value of a static variable; 0 if it is not known.
func (j *jvmMemory) static(name string) uint64 {
	at, ok := j.statics[name]
	if !ok {
		return 0
	}
	v, err := j.word(at)
	if err != nil {
		return 0
	}
	return v
}

func (j *jvmMemory) heap() (addresses, bool) {
	heap := j.static("Universe._collectedHeap")
	reserved, ok1 := j.offsets["CollectedHeap._reserved"]
	start, ok2 := j.offsets["MemRegion._start"]
	words, ok3 := j.offsets["MemRegion._word_size"]
	if heap == 0 || !ok1 || !ok2 || !ok3 || max(reserved, start, words) > maxStructAt {
		return addresses{}, false
	}
	from, err1 := j.word(heap + reserved + start)
	n, err2 := j.word(heap + reserved + words)
	return addresses{from, from + 8*n, heapRegion}, err1 == nil && err2 == nil && from != 0 && n < maxRegion/8
}

func (j *jvmMemory) code() (addresses, bool) {
	from := j.static("CodeCache._low_bound")
	return addresses{from, j.static("CodeCache._high_bound"), codeRegion}, from != 0
}

// classBase is where classes begin: those of the shared archive, then the compressed class space; 0 if it is not known.
func (j *jvmMemory) classBase() uint64 {
	if base := j.static("CompressedKlassPointers._narrow_klass._base"); base != 0 {
		return base
	}
	return j.static("CompressedKlassPointers._base")
}
