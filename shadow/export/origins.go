package export

import "stackagent/internal/wire"

// Origins say who submitted each task: about five bytes a task where ids are given out in sequence.
type Origins struct {
	pages map[uint64]*[64]uint32 // by task id / 64: index in list + 1
	index map[Origin]uint32
	list  []Origin
}

// Origin is where a task was submitted.
type Origin struct {
	Executor, Site uint32 // 0: none, or not known
}

// Origins reads the latest submission of each task. A submission by a library, inside another one, does not replace
// the program's.
func (s *Source) Origins() (*Origins, error) {
	o := &Origins{pages: map[uint64]*[64]uint32{}, index: map[Origin]uint32{}}
	err := s.eachSubmission(func(x *Submission) error {
		if x.At > s.Span.To {
			return nil
		}
		page := o.pages[x.Task>>6]
		if page == nil {
			page = new([64]uint32)
			o.pages[x.Task>>6] = page
		}
		at := &page[x.Task&63]
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
	if page := o.pages[task>>6]; page != nil && page[task&63] != 0 {
		return o.list[page[task&63]-1]
	}
	return Origin{}
}
