package session

// TaskSet is a set of task ids, a few bits for each where ids are given out in
// sequence. Make it with NewTaskSet; not safe for concurrent use.
type TaskSet struct{ ids *idSet }

// NewTaskSet is an empty set.
func NewTaskSet() *TaskSet { return &TaskSet{newIDSet()} }

// Add puts id in.
func (s *TaskSet) Add(id uint64) { s.ids.add(id) }

// Has tells whether id is in the set.
func (s *TaskSet) Has(id uint64) bool { return s.ids.has(id) }
