package callsite

import (
	"fmt"
	"maps"
	"slices"

	"stackagent/shadow/session"
)

// fewFolds is the most pools with threads of their own, made at one place, that are listed one by one. It is also the
// most names by which others of one place are told apart.
const fewFolds = 16

// fold are executors that are listed as one: of the same class and made at the same place, as those that a program makes
// for each call.
type fold struct {
	executors []*session.Executor
	threads   map[string]uint64 // by name: how many of their tasks they ran
}

// placeOf is where an executor was made; "": not known.
func placeOf(e *session.Executor) string {
	if place := Place(e.File, e.Line); place != "" {
		return e.MadeIn + " " + place
	}
	return e.MadeIn
}

// executorNames are the labels of executors.
type executorNames struct {
	labels  map[uint32]string
	in      map[string]int64  // by label: how many executors have it
	workers map[uint32]uint32 // by thread: the executor whose worker it is
}

// nameExecutors labels all executors. Folds with one label are numbered by their first executor.
func (x *Index) nameExecutors(each bool) *executorNames {
	counts, loops := x.ranOn()
	workers := x.workersOf(counts, loops)
	ran := x.executorThreads(counts, workers)
	own := map[uint32]bool{}
	for _, executor := range workers {
		own[executor] = true
	}
	n := &executorNames{map[uint32]string{}, map[string]int64{}, workers}
	same := map[string][]*fold{}
	for _, f := range x.folds(ran, own, each) {
		label := f.label()
		same[label] = append(same[label], f)
	}
	for label, folds := range same {
		for _, f := range folds {
			l := label
			if len(folds) > 1 {
				l = fmt.Sprintf("%s #%d", label, f.executors[0].ID)
			}
			for _, e := range f.executors {
				n.labels[e.ID] = l
			}
			n.in[l] += int64(len(f.executors))
		}
	}
	return n
}

// folds divides the executors. own are those with workers. Those of one class and place differ by the names that the
// program gave them; where the place is not known, by those of their threads, too.
func (x *Index) folds(ran map[uint32]map[string]uint64, own map[uint32]bool, each bool) []*fold {
	all := x.s.Executors()
	type kind struct {
		class, place string
		pool         bool
	}
	kinds := map[kind][]*session.Executor{}
	for i := range all {
		k := kind{all[i].Class, placeOf(&all[i]), own[all[i].ID]}
		kinds[k] = append(kinds[k], &all[i])
	}
	var out []*fold
	for k, of := range kinds {
		if each || k.pool && len(of) <= fewFolds {
			for _, e := range of {
				out = append(out, &fold{[]*session.Executor{e}, ran[e.ID]})
			}
			continue
		}
		by := map[string]*fold{}
		for _, e := range of {
			name := stem(e.Name)
			if name == "" && k.place == "" {
				name = SharedName(ran[e.ID])
			}
			foldIn(by, name, e, ran[e.ID])
		}
		if len(by) > fewFolds {
			by = map[string]*fold{}
			for _, e := range of {
				foldIn(by, "", e, ran[e.ID])
			}
		}
		out = slices.AppendSeq(out, maps.Values(by))
	}
	return out
}

func foldIn(by map[string]*fold, name string, e *session.Executor, threads map[string]uint64) {
	f := by[name]
	if f == nil {
		f = &fold{threads: map[string]uint64{}}
		by[name] = f
	}
	f.executors = append(f.executors, e)
	for name, n := range threads {
		f.threads[name] += n
	}
}

// label names the executors of a fold by what they have in common.
func (f *fold) label() string {
	e := *f.executors[0]
	if len(f.executors) == 1 {
		return LabelExecutor(&e, SharedName(f.threads))
	}
	for _, other := range f.executors {
		if other.Name != e.Name {
			e.Name = stem(e.Name)
		}
	}
	threads := map[string]uint64{}
	for name, n := range f.threads {
		if name = stem(name); defaultThreads.MatchString(name) {
			name = "" // the number of the pool in it is that of one
		}
		threads[name] += n
	}
	return LabelExecutor(&e, SharedName(threads))
}
