package warmup

import (
	"cmp"
	"math"
	"slices"

	"stackagent/granularity/estimate"
)

// Work is the work of a class of tasks in the iterations of a run.
type Work struct {
	Class string
	Count []int64   // executions, by iteration
	Sum   []float64 // their work, by iteration
}

// Loss is what the warm-up cost in the tasks of a class.
type Loss struct {
	Class              string
	ColdCount, Count   int64   // executions before the program is warm, and when it is
	ColdMean, WarmMean float64 // work of each; NaN: there are none
	// Lost is what the cold executions took beyond as many warm ones; NaN: it has only one kind.
	Lost float64
}

// Losses compares the work of classes before iteration settled with that from there on. The class that lost most comes first,
// those that cannot be compared last.
func Losses(work []Work, settled int) []Loss {
	var out []Loss
	for _, w := range work {
		l := Loss{Class: w.Class}
		var cold, warm float64
		for i, n := range w.Count {
			if i < settled {
				l.ColdCount, cold = l.ColdCount+n, cold+w.Sum[i]
			} else {
				l.Count, warm = l.Count+n, warm+w.Sum[i]
			}
		}
		if l.ColdCount+l.Count == 0 {
			continue
		}
		l.ColdMean, l.WarmMean = cold/float64(l.ColdCount), warm/float64(l.Count) // NaN without executions
		l.Lost = (l.ColdMean - l.WarmMean) * float64(l.ColdCount)
		out = append(out, l)
	}
	slices.SortFunc(out, func(a, b Loss) int {
		return cmp.Or(byKnown(a.Lost, b.Lost), cmp.Compare(b.Lost, a.Lost), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// byKnown puts NaN last.
func byKnown(a, b float64) int {
	switch x, y := math.IsNaN(a), math.IsNaN(b); {
	case x == y:
		return 0
	case x:
		return 1
	}
	return -1
}

// ClassLoss is the loss of a class over several runs.
type ClassLoss struct {
	Class              string
	ColdCount, Count   int64             // summed over the runs
	ColdMean, WarmMean float64           // of each execution in all runs; NaN: there are none
	Lost               estimate.Interval // in a run, mean over those that can be compared
}

// Join joins the losses of several runs by class, ranked as Losses does.
func Join(runs [][]Loss) []ClassLoss {
	var out []ClassLoss
	index, lost := map[string]int{}, map[string][]float64{}
	for _, run := range runs {
		for _, l := range run {
			i, ok := index[l.Class]
			if !ok {
				i = len(out)
				index[l.Class] = i
				out = append(out, ClassLoss{Class: l.Class})
			}
			c := &out[i]
			c.ColdMean, c.ColdCount = pooled(c.ColdMean, c.ColdCount, l.ColdMean, l.ColdCount)
			c.WarmMean, c.Count = pooled(c.WarmMean, c.Count, l.WarmMean, l.Count)
			if !math.IsNaN(l.Lost) {
				lost[l.Class] = append(lost[l.Class], l.Lost)
			}
		}
	}
	for i := range out {
		out[i].Lost = estimate.Mean(lost[out[i].Class])
	}
	slices.SortFunc(out, func(a, b ClassLoss) int {
		return cmp.Or(byKnown(a.Lost.Mean, b.Lost.Mean), cmp.Compare(b.Lost.Mean, a.Lost.Mean), cmp.Compare(a.Class, b.Class))
	})
	return out
}

// pooled is the mean of two groups together.
func pooled(a float64, n int64, b float64, m int64) (float64, int64) {
	switch {
	case m == 0 && n == 0:
		return math.NaN(), 0
	case m == 0:
		return a, n
	case n == 0:
		return b, m
	}
	return (a*float64(n) + b*float64(m)) / float64(n+m), n + m
}
