package instrument

import (
	"fmt"
	"sync"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// TaskKinds are the kinds that make a class a task; the other bits only
// qualify it.
const TaskKinds = units.KindThread | units.KindRunnable | units.KindCallable | units.KindForkJoin | units.KindCustom

// inherited are the kinds that a class has from its supertypes.
const inherited = TaskKinds | units.KindVirtual | units.KindExecutor

// A Hierarchy answers for the supertypes of a class.
type Hierarchy interface {
	// Kinds returns the kinds of the class or interface with an internal name,
	// those it inherits included; false if it does not know the class.
	Kinds(class string) (units.Kinds, bool)
}

// knownKinds are the types that define what a task is (docs: definitions).
func knownKinds(class string) (units.Kinds, bool) {
	switch class {
	case nameObject:
		return 0, true
	case nameThread:
		return units.KindThread | units.KindRunnable, true
	case "java/lang/BaseVirtualThread", nameVirtualThread:
		return units.KindThread | units.KindRunnable | units.KindVirtual, true
	case "java/lang/Runnable":
		return units.KindRunnable, true
	case "java/util/concurrent/Callable":
		return units.KindCallable, true
	case nameForkJoinTask, forkJoinCopies[0], forkJoinCopies[1], forkJoinCopies[2]:
		return units.KindForkJoin, true
	case "java/util/concurrent/Executor", nameCompletion, nameTimer:
		return units.KindExecutor, true
	}
	return 0, false
}

// superKinds asks for the kinds of one supertype.
func superKinds(class string, h Hierarchy) (units.Kinds, bool) {
	if k, ok := knownKinds(class); ok {
		if class == nameObject || h == nil {
			return k, true
		}
		// A user's definition may name java.lang.Thread itself, say.
		more, _ := h.Kinds(class)
		return (k | more) & inherited, true
	}
	if h == nil {
		return 0, false
	}
	k, ok := h.Kinds(class)
	return k & inherited, ok
}

// ClassKinds works out the kinds of a class from its header: what it inherits,
// what it is by name, and what the options make of it. It is what a Hierarchy
// should remember of each class. The error is a *Refusal with ReasonHierarchy
// if a supertype is unknown.
func ClassKinds(h classfile.Header, supers Hierarchy, o *Options) (units.Kinds, error) {
	k, _ := knownKinds(h.Name)
	if h.Super != "" {
		sk, ok := superKinds(h.Super, supers)
		if !ok {
			return 0, refuse(h.Name, ReasonHierarchy, "superclass %s", h.Super)
		}
		k |= sk
	}
	for _, name := range h.Interfaces {
		ik, ok := superKinds(name, supers)
		if !ok {
			return 0, refuse(h.Name, ReasonHierarchy, "interface %s", name)
		}
		k |= ik
	}
	if len(o.Tasks) > 0 && h.Name != nameObject && o.NamesClass(javaName(h.Name)) {
		k |= units.KindCustom
	}
	return k, nil
}

// maxDepth bounds the length of a chain of supertypes.
const maxDepth = 1000

// ImageHierarchy is a Hierarchy over class files: it reads the headers of the
// classes it is asked for, and of their supertypes, and remembers the answers.
// It is safe for use by several goroutines.
type ImageHierarchy struct {
	source  func(name string) ([]byte, error)
	options Options

	mu    sync.Mutex
	kinds map[string]units.Kinds
	busy  map[string]bool // the chain that is being resolved, to end cycles
}

// NewImageHierarchy reads classes from source, which gets internal names. An
// error of source makes the class unknown; it is asked again the next time.
func NewImageHierarchy(source func(name string) ([]byte, error), o Options) *ImageHierarchy {
	return &ImageHierarchy{source: source, options: o,
		kinds: make(map[string]units.Kinds), busy: make(map[string]bool)}
}

// Kinds implements Hierarchy.
func (h *ImageHierarchy) Kinds(class string) (units.Kinds, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return locked{h}.Kinds(class)
}

// locked is the hierarchy for the lookups of supertypes inside a lookup.
type locked struct{ h *ImageHierarchy }

func (l locked) Kinds(class string) (units.Kinds, bool) {
	k, err := l.h.resolve(class)
	return k, err == nil
}

func (h *ImageHierarchy) resolve(class string) (units.Kinds, error) {
	if k, ok := h.kinds[class]; ok {
		return k, nil
	}
	if h.busy[class] || len(h.busy) > maxDepth {
		return 0, fmt.Errorf("supertypes of %s: a cycle, or more than %d levels", class, maxDepth)
	}
	h.busy[class] = true
	defer delete(h.busy, class)
	b, err := h.source(class)
	if err != nil {
		return 0, fmt.Errorf("read class %s: %w", class, err)
	}
	header, err := classfile.ParseHeader(b)
	if err != nil {
		return 0, fmt.Errorf("read class %s: %w", class, err)
	}
	if header.Name != class {
		return 0, fmt.Errorf("read class %s: the bytes are those of %s", class, header.Name)
	}
	k, err := ClassKinds(header, locked{h}, &h.options)
	if err != nil {
		return 0, err
	}
	h.kinds[class] = k
	return k, nil
}
