package export

import "stackagent/internal/wire"

// Origins say who submitted each task: about five bytes a task where ids are given out in sequence.
type Origins struct {
	pages map[uint64]*origins // by task id / 64
	index map[Origin]uint32
	list  []Origin
}

type origins struct {
	of       [64]uint32 // index in list + 1
	executed uint64     // bit set
}

// Origin is where a task was submitted.
type Origin struct {
	Executor, Site uint32 // 0: none, or not known
}

// Origins reads the latest submission of each task. A submission by a library, inside another one, does not replace
// the program's.
func (s *Source) Origins() (*Origins, error) {
	o := &Origins{pages: map[uint64]*origins{}, index: map[Origin]uint32{}}
	err := s.eachSubmission(func(x *Submission) error {
		if x.At > s.Span.To {
			return nil
		}
		page := o.pages[x.Task>>6]
		if page == nil {
			page = new(origins)
			o.pages[x.Task>>6] = page
		}
		at := &page.of[x.Task&63]
		if x.Flags&wire.Inner != 0 && *at != 0 {
			return nil
		}
		*at = o.of(Origin{x.Executor, x.Site})
		return nil
	})
	return o, err
}

func (o *Origins) of(x Origin) uint32 {
	i, ok := o.index[x]
	if !ok {
		o.list = append(o.list, x)
		i = uint32(len(o.list))
		o.index[x] = i
	}
	return i
}

// Of is the origin of a task; zero where it is not known.
func (o *Origins) Of(task uint64) Origin {
	if page := o.pages[task>>6]; page != nil && page.of[task&63] != 0 {
		return o.list[page.of[task&63]-1]
	}
	return Origin{}
}

// Executed is Of, and notes that the task was executed.
func (o *Origins) Executed(task uint64) Origin {
	if page := o.pages[task>>6]; page != nil {
		page.executed |= 1 << (task & 63)
	}
	return o.Of(task)
}

// Waiting reports whether there are tasks that were submitted and not noted as executed.
func (o *Origins) Waiting() bool {
	for _, page := range o.pages {
		for i, of := range page.of {
			if of != 0 && page.executed&(1<<i) == 0 {
				return true
			}
		}
	}
	return false
}
