package vertical

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// world is a simulated run: a target with changes, the series that makes them if any, those that follow, and many that
// have nothing to do with it.
type world struct {
	r      *rand.Rand
	n      int
	target Series
	ranges []Range // in which the target changes
	shape  []float64
	others []Series
	cause  string          // "" if none was planted
	moved  map[string]bool // what truly moves with the target
}

// noise is an autoregression of the first order with unit variance.
func (w *world) noise(phi float64) []float64 {
	out := make([]float64, w.n)
	x := w.r.NormFloat64()
	for i := range out {
		x = phi*x + math.Sqrt(1-phi*phi)*w.r.NormFloat64()
		out[i] = x
	}
	return out
}

func (w *world) poisson(mean float64) float64 {
	if mean > 50 {
		return math.Max(0, math.Round(mean+math.Sqrt(mean)*w.r.NormFloat64()))
	}
	k, p := 0.0, w.r.Float64()
	for limit := math.Exp(-mean); p > limit; k++ {
		p *= w.r.Float64()
	}
	return k
}

func (w *world) between(a, b float64) float64 { return a + (b-a)*w.r.Float64() }

func (w *world) layer() string { return Layers[w.r.IntN(len(Layers))] }

func (w *world) add(name, layer, unit string, values []float64) string {
	name = fmt.Sprintf("%s.%d", name, len(w.others))
	w.others = append(w.others, Series{Name: name, Layer: layer, Unit: unit, Values: values})
	return name
}

// changes lays out the changes of the target: one to eight dips or bursts, or one step. shape is their depth: 0 to 1.
func (w *world) changes() {
	w.shape = make([]float64, w.n)
	if w.r.IntN(5) == 0 { // a step
		at := w.n/4 + w.r.IntN(w.n/2)
		w.ranges = []Range{{at, w.n}}
	} else {
		count := 1 + w.r.IntN(8)
		length := 8 + w.r.IntN(40)
		room := w.n / count
		for i := range count {
			from := i*room + length + w.r.IntN(max(1, room-3*length))
			w.ranges = append(w.ranges, Range{from, from + length + w.r.IntN(1+length/4)})
		}
	}
	for _, r := range w.ranges {
		dose := w.between(0.7, 1)
		for i := r.From; i < r.To; i++ {
			w.shape[i] = dose
		}
	}
}

// late is the shape, so many samples later; earlier if negative.
func (w *world) late(lag int) []float64 {
	out := make([]float64, w.n)
	for i := range out {
		out[i] = w.shape[min(max(i-lag, 0), w.n-1)]
	}
	return out
}

// level is a series with a level, noise, and a factor by which the shape raises it.
func (w *world) level(shape []float64, factor float64) []float64 {
	base, noise, rel := w.between(10, 1e4), w.noise(w.between(0, 0.8)), w.between(0.02, 0.1)
	out := make([]float64, w.n)
	for i := range out {
		out[i] = base * (1 + (factor-1)*shape[i]) * (1 + rel*noise[i])
	}
	return out
}

// events is a series of counts with a rate that the shape raises.
func (w *world) events(shape []float64, usual, more float64) []float64 {
	out := make([]float64, w.n)
	for i := range out {
		out[i] = w.poisson(usual + more*shape[i])
	}
	return out
}

// simulate makes a run: with a planted cause, or without.
func simulate(seed uint64, planted bool, unrelated int) *world {
	w := &world{r: rand.New(rand.NewPCG(seed, 20)), moved: map[string]bool{}}
	w.n = 500 + w.r.IntN(1500)
	w.changes()
	deep := w.between(0.25, 0.7)
	noise, base, trend := w.noise(w.between(0, 0.7)), w.between(40, 400), w.between(-0.2, 0.2)
	target := make([]float64, w.n)
	for i := range target {
		level := base * (1 - deep*w.shape[i]) * (1 + trend*float64(i)/float64(w.n))
		target[i] = math.Round(math.Max(0, level*(1+0.06*noise[i])))
	}
	w.target = Series{Name: "app.tasks.finished", Layer: "application", Values: target}
	if planted {
		w.plant()
	}
	w.consequences(deep)
	w.decoys()
	for range unrelated {
		w.unrelated()
	}
	w.r.Shuffle(len(w.others), func(i, j int) { w.others[i], w.others[j] = w.others[j], w.others[i] })
	return w
}

// plant adds the cause, up to five samples before the target, and up to three series between it and the target: later
// than it, or at once in a higher layer.
func (w *world) plant() {
	depth := w.r.IntN(len(Layers))
	lead := w.r.IntN(6)
	more := func(lag int) []float64 {
		switch w.r.IntN(3) {
		case 0:
			return w.events(w.late(lag), w.between(0, 2), w.between(10, 200))
		case 1:
			return w.events(w.late(lag), w.between(0, 0.3), w.between(1, 4))
		}
		return w.level(w.late(lag), math.Exp(w.between(math.Log(1.8), math.Log(60))))
	}
	w.cause = w.add("cause", Layers[depth], "", more(-lead))
	w.moved[w.cause] = true
	for range w.r.IntN(4) {
		layer, lag := w.layer(), -lead+3
		if depth > 0 && w.r.IntN(2) == 0 {
			layer, lag = Layers[w.r.IntN(depth)], -lead
		}
		if lag > 0 {
			continue
		}
		w.moved[w.add("between", layer, "", more(lag))] = true
	}
}

// consequences add work that is not done in the dips, and what builds up because of them.
func (w *world) consequences(deep float64) {
	for range 5 + w.r.IntN(10) {
		w.moved[w.add("work", w.layer(), "", w.level(w.late(w.r.IntN(3)), 1-deep))] = true
	}
	for range 3 {
		w.moved[w.add("later", w.layer(), "", w.level(w.late(5+w.r.IntN(10)), w.between(1.5, 20)))] = true
	}
}

// decoys add series that also change with the target, but as much elsewhere.
func (w *world) decoys() {
	for range 3 {
		shape := append([]float64(nil), w.shape...)
		r := w.ranges[0]
		for range 3 * len(w.ranges) {
			from := w.r.IntN(w.n)
			for w.shape[from] > 0 {
				from = w.r.IntN(w.n)
			}
			for i := from; i < min(from+min(r.Len(), w.n/10), w.n); i++ {
				shape[i] = 1
			}
		}
		w.add("elsewhere", w.layer(), "", w.level(shape, w.between(1.5, 20)))
	}
}

// unrelated adds a series that knows nothing of the target.
func (w *world) unrelated() {
	v := make([]float64, w.n)
	kind := w.r.IntN(10)
	switch kind {
	case 0: // white or autocorrelated noise
		v = w.level(v, 1)
	case 1: // strongly autocorrelated
		noise := w.noise(w.between(0.9, 0.98))
		for i := range v {
			v[i] = 100 + 10*noise[i]
		}
	case 2: // counts
		v = w.events(v, math.Exp(w.between(-4, 5)), 0)
	case 3: // phases of its own
		level := 1.0
		for i := range v {
			if w.r.Float64() < 3/float64(w.n) {
				level = w.between(1, 5)
			}
			v[i] = 100 * level * (1 + 0.05*w.r.NormFloat64())
		}
	case 4: // bursts of its own
		for i := range v {
			v[i] = w.poisson(1)
		}
		for range 1 + w.r.IntN(15) {
			from, length := w.r.IntN(w.n), 1+w.r.IntN(40)
			for i := from; i < min(from+length, w.n); i++ {
				v[i] += w.poisson(20)
			}
		}
	case 5: // a trend
		slope, noise := w.between(-1, 1), w.noise(0.5)
		for i := range v {
			v[i] = 100 + 100*slope*float64(i)/float64(w.n) + 3*noise[i]
		}
	case 6: // heavy tails
		for i := range v {
			v[i] = math.Exp(1.5 * w.r.NormFloat64())
		}
	case 7: // a random walk
		x := 1000.0
		for i := range v {
			x += w.r.NormFloat64()
			v[i] = x
		}
	case 8: // rare, in clusters; or constant
		rate := w.between(0, 0.02)
		for i := range v {
			if w.r.Float64() < rate {
				v[i] = 1 + w.poisson(3)
			}
		}
	case 9: // a period of its own, with samples missing
		period, noise := w.between(10, float64(w.n)/3), w.noise(0.3)
		for i := range v {
			v[i] = 50 + 10*math.Sin(2*math.Pi*float64(i)/period) + 2*noise[i]
			if w.r.IntN(20) == 0 {
				v[i] = math.NaN()
			}
		}
	}
	w.add(fmt.Sprintf("unrelated%d", kind), w.layer(), "", v)
}
