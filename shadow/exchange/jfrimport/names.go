package jfrimport

import (
	"cmp"
	"fmt"
	"strings"

	"stackagent/internal/jfrfile"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// names gives threads, classes, frames and contexts their ids in the session. What a chunk names by a key is found once a
// chunk.
type names struct {
	threads   []store.Thread
	threadIDs map[threadKey]uint32
	classes   []class
	classIDs  map[string]uint32
	blockers  []store.Blocker // without ids
	blockIDs  map[store.Blocker]uint32
	frames    []store.Frame
	frameIDs  map[store.Frame]uint32
	contexts  []store.Context
	ctxIDs    map[string]uint32

	ofThread    map[int64]uint32 // of the chunk, by key
	ofMethod    map[int64]method
	ofBlock     map[int64]uint32
	ofStack     map[int64]stack
	executors   []string
	executorIDs map[string]uint32
	full        bool // no room for a further context
}

// threadKey tells threads apart: Java's by their ids, others by the kernel's.
type threadKey struct {
	java, os int64
	name     string // of a thread without either
}

type class struct {
	name  string
	kinds units.Kinds
}

func (n *names) init() {
	n.threadIDs, n.classIDs, n.blockIDs = map[threadKey]uint32{}, map[string]uint32{}, map[store.Blocker]uint32{}
	n.executorIDs = map[string]uint32{}
	n.frameIDs, n.ctxIDs = map[store.Frame]uint32{}, map[string]uint32{}
}

// chunk forgets the keys of the chunk before.
func (n *names) chunk(*jfrfile.Chunk) {
	n.ofThread, n.ofMethod, n.ofBlock, n.ofStack = map[int64]uint32{}, map[int64]method{}, map[int64]uint32{}, map[int64]stack{}
}

// short is a name that is valid and not too long.
func short(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// thread is the id of the thread in a field of an event, 0: none.
func (n *names) thread(e jfrfile.Value, field string) (uint32, error) {
	key := e.Key(field)
	if id, ok := n.ofThread[key]; ok {
		return id, nil
	}
	v := e.Get(field)
	if v.Missing() {
		return 0, nil
	}
	java, os := v.Get("javaThreadId").Int(), v.Get("osThreadId").Int()
	alone := ""
	if java <= 0 && os <= 0 {
		if alone = short(v.Get("javaName").Text()); alone == "" {
			return 0, nil
		}
	}
	id, err := n.threadOf(java, os, alone)
	if err != nil {
		return 0, err
	}
	t := &n.threads[id-1]
	virtual := v.Get("virtual").Int() != 0
	if name := short(v.Get("javaName").Text()); java > 0 && name != "" {
		t.Name = name
	} else if name := cmp.Or(alone, short(v.Get("osName").Text())); t.Name == "" && !virtual {
		t.Name = name
	}
	if g := short(v.Get("group").Get("name").Text()); g != "" {
		t.Group = g
	}
	if t.Virtual = t.Virtual || virtual; t.Virtual {
		t.OSID = 0
	}
	n.ofThread[key] = id
	return id, nil
}

func (n *names) threadOf(java, os int64, name string) (uint32, error) {
	key := threadKey{java: java}
	if java <= 0 {
		key = threadKey{os: os, name: name}
	}
	if id, ok := n.threadIDs[key]; ok {
		return id, nil
	}
	if len(n.threads) == maxNames {
		return 0, fmt.Errorf("more than %d threads: %w", maxNames, ErrTooLarge)
	}
	id := uint32(len(n.threads) + 1)
	n.threadIDs[key] = id
	n.threads = append(n.threads, store.Thread{ID: id, JavaID: max(java, 0), OSID: int32(os)})
	return id, nil
}

// classOf is the id of a class of tasks.
func (n *names) classOf(name string, kinds units.Kinds) (uint32, error) {
	if id, ok := n.classIDs[name]; ok {
		n.classes[id-1].kinds |= kinds
		return id, nil
	}
	if len(n.classes) == maxNames {
		return 0, fmt.Errorf("more than %d classes: %w", maxNames, ErrTooLarge)
	}
	n.classes = append(n.classes, class{name, kinds})
	id := uint32(len(n.classes))
	n.classIDs[name] = id
	return id, nil
}

// blocker is the id of the class of what a wait was for, 0: none.
func (n *names) blocker(e jfrfile.Value, field string) (uint32, error) {
	key := e.Key(field)
	if key == 0 {
		return 0, nil
	}
	if id, ok := n.ofBlock[key]; ok {
		return id, nil
	}
	name, _ := javaName(e.Get(field).Get("name").Text())
	if name == "" {
		return 0, nil
	}
	id, err := n.blockerOf(store.Blocker{Class: name})
	if err == nil {
		n.ofBlock[key] = id
	}
	return id, err
}

// blockerOf is the id of what waits were for.
func (n *names) blockerOf(x store.Blocker) (uint32, error) {
	id, ok := n.blockIDs[x]
	if !ok {
		if len(n.blockers) == maxNames {
			return 0, fmt.Errorf("more than %d classes: %w", maxNames, ErrTooLarge)
		}
		n.blockers = append(n.blockers, x)
		id = uint32(len(n.blockers))
		n.blockIDs[x] = id
	}
	return id, nil
}

// javaName is a class as Java writes it. Hidden classes lose the part that differs from run to run.
func javaName(s string) (name string, kinds units.Kinds) {
	s = short(s)
	for _, mark := range []string{"/0x", "+0x"} {
		if i := strings.LastIndex(s, mark); i > 0 {
			s, kinds = s[:i], units.KindHidden
		}
	}
	return strings.ReplaceAll(s, "/", "."), kinds | platform(strings.ReplaceAll(s, "/", "."))
}

// platform is KindJDK for a class of the JDK.
func platform(name string) units.Kinds {
	for _, p := range []string{"java.", "jdk.", "sun."} { // not javax: it has libraries of programs
		if strings.HasPrefix(name, p) {
			return units.KindJDK
		}
	}
	return 0
}

// executor is the id of an executor by its name, 0: none.
func (n *names) executor(name string) uint32 {
	if name = short(name); name == "" {
		return 0
	}
	id, ok := n.executorIDs[name]
	if !ok && len(n.executors) < maxNames {
		n.executors = append(n.executors, name)
		id = uint32(len(n.executors))
		n.executorIDs[name] = id
	}
	return id
}
