package figure

import (
	"fmt"
	"math"
	"math/rand/v2"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/estimate"
	"stackagent/granularity/gc"
	"stackagent/granularity/speedup"
	"stackagent/granularity/timeline"
	"stackagent/internal/units"
)

// bottleOf makes a graph of boxes of so many milliseconds and so wide.
func bottleOf(boxes ...bottle.Box) *bottle.Graph {
	g := &bottle.Graph{From: 1e9, To: 4e9}
	for _, b := range boxes {
		b.Threads, b.HeightNs = 1, b.HeightNs*1e6
		b.RunningNs = units.Ns(b.HeightNs * b.Width)
		g.Boxes = append(g.Boxes, b)
		g.BusyNs += units.Ns(b.HeightNs)
	}
	return g.Group(bottle.ByThread)
}

func paperBottle() *bottle.Graph {
	return bottleOf(
		bottle.Box{Name: "pool-1-thread-1#21", Kind: activity.KindApplication, HeightNs: 420, Width: 3.9},
		bottle.Box{Name: "pool-1-thread-2#22", Kind: activity.KindApplication, HeightNs: 410, Width: 3.88},
		bottle.Box{Name: "pool-1-thread-3#23", Kind: activity.KindApplication, HeightNs: 400, Width: 3.85},
		bottle.Box{Name: "pool-1-thread-4#24", Kind: activity.KindApplication, HeightNs: 960, Width: 2.1},
		bottle.Box{Name: "GC Thread#0@311", Kind: activity.KindGC, HeightNs: 130, Width: 1.9},
		bottle.Box{Name: "GC Thread#1@312", Kind: activity.KindGC, HeightNs: 110, Width: 1.95},
		bottle.Box{Name: "C2 CompilerThre@316", Kind: activity.KindCompiler, HeightNs: 75, Width: 2.6},
		bottle.Box{Name: "C1 CompilerThre@317", Kind: activity.KindCompiler, HeightNs: 12, Width: 2.4},
		bottle.Box{Name: "VM Thread@314", Kind: activity.KindVM, HeightNs: 9, Width: 1.1},
		bottle.Box{Name: "VM Periodic Tas@318", Kind: activity.KindVM, HeightNs: 1, Width: 2},
		bottle.Box{Name: "main#1", Kind: activity.KindMain, HeightNs: 300, Width: 1.05},
	)
}

// crowdedBottle has two hundred threads with names as programs give them.
func crowdedBottle() *bottle.Graph {
	rng := rand.New(rand.NewPCG(4, 4))
	var boxes []bottle.Box
	for i := range 190 {
		boxes = append(boxes, bottle.Box{Name: fmt.Sprintf("http-nio-8080-exec-with-a-long-name-%d#%d", i, 30+i), Kind: activity.KindApplication,
			HeightNs: 2 + 40*math.Pow(rng.Float64(), 6), Width: 5 + 3*rng.Float64()})
	}
	boxes = append(boxes, bottle.Box{Name: "main#1", Kind: activity.KindMain, HeightNs: 120, Width: 1},
		bottle.Box{Name: "\u202eevil\x1b[2J<script>", Kind: activity.KindOther, HeightNs: 60, Width: 1.5})
	for i := range 8 {
		boxes = append(boxes, bottle.Box{Name: fmt.Sprintf("GC Thread#%d@%d", i, 300+i), Kind: activity.KindGC, HeightNs: 25, Width: 7})
	}
	return bottleOf(boxes...)
}

// severalBottles are graphs of several configurations: more than fit in a row, one with hostile names, one in which nothing ran.
func severalBottles() []LabelledBottle {
	few := paperBottle()
	few.Boxes = few.Boxes[3:]
	return []LabelledBottle{{"threads-1", few}, {"threads-4", paperBottle()}, {"threads-64/run-3 with a label that is too long for its place", crowdedBottle()},
		{"\u202eevil", paperBottle().Group(bottle.ByKind)}, {"nothing", &bottle.Graph{To: 5}}}
}

func barOf(n int, s float64, components ...float64) speedup.Repeated {
	b := speedup.Bar{Threads: n, Speedup: s}
	sum := s
	for i, c := range components {
		b.Components[i] = c
		sum += c
	}
	b.Components[speedup.Rest] = float64(n) - sum
	return speedup.Repeat([]speedup.Bar{b})
}

// twice is a bar with a confidence interval.
func twice(n int, s float64, components ...float64) speedup.Repeated {
	a, b := barOf(n, s-0.08, components...), barOf(n, s+0.08, components...)
	return speedup.Repeat(append(a.Bars, b.Bars...))
}

// warmCurve is an exponential warm-up; of every fifth iteration nothing is known.
func warmCurve(n, runs int) WarmCurve {
	w := WarmCurve{What: "time", Of: "iteration", Runs: runs, Warm: -1, Limit: 101.5e6, Within: 0.015}
	for i := range n {
		t := 1e8 * (1 + 3*math.Pow(2, -float64(i)))
		if w.Warm < 0 && t <= w.Limit {
			w.Warm = i
		}
		p := WarmPoint{Compiler: 0.5 * math.Pow(2, -float64(i)), GC: 0.03, Deopts: math.Trunc(12345 / math.Pow(float64(i+1), 4))}
		for r := range runs {
			p.Each = append(p.Each, t+1e6*float64(r))
		}
		if p.Time = estimate.Mean(p.Each); i%5 == 4 {
			p = WarmPoint{Time: estimate.Mean(nil), Compiler: math.NaN(), GC: math.NaN(), Deopts: math.NaN()}
		}
		w.Points = append(w.Points, p)
	}
	return w
}

func activityFigures() map[string]*Figure {
	lusearch := []speedup.Repeated{barOf(2, 1.6, 0.15, 0.05, 0.1), barOf(4, 2, 0.7, 0.3, 0.25, 0.1), barOf(8, 2.6, 2.2, 0.9, 0.7, 0.3, 0.1, 0.2)}
	negative := []speedup.Repeated{barOf(2, 2.3, 0.1, -0.2, 0.05), twice(4, 3.1, 0.2, 0.1, 0.05, 0, 0, 0.3)}
	var curve []gc.Utilization
	for _, w := range []units.Ns{1e6, 3e6, 1e7, 3e7, 1e8, 3e8, 1e9} {
		curve = append(curve, gc.Utilization{Window: w, Min: max(0, 1-8e6/float64(w)) * 0.95})
	}
	windows := []*bottle.Graph{}
	for i := range 8 {
		g := paperBottle()
		g.From, g.To = units.MonoNs(1e9+i*5e8), units.MonoNs(15e8+i*5e8)
		g.Boxes = g.Boxes[min(i, 6):]
		windows = append(windows, g)
	}
	paper := CollectorFigures([]string{FactorThreads, FactorGCThreads, FactorCollector}, configurations())
	heaps := CollectorFigures([]string{FactorCollector, FactorHeap}, configurationsOverHeaps())
	programs := CollectorFigures([]string{FactorThreads, FactorGCThreads, FactorProgram}, append(configurations(), configurationsOfHalf()...))
	return map[string]*Figure{
		"gc-programs": programs[0],
		"gc-threads":  paper[0], "gc-collections": paper[1], "gc-application": paper[2], "gc-heaps": heaps[0], "gc-none": Over(&Figure{Name: "none"}, Configurations{}, nil),
		"timeline": timelineOf(2, 0), "timeline-crowded": timelineOf(200, 30), "timeline-empty": Timeline(Times{}, nil, nil, 2),
		"bottle": Bottle(paperBottle()), "bottle-crowded": Bottle(crowdedBottle()), "bottle-kinds": Bottle(crowdedBottle().Group(bottle.ByKind)),
		"bottle-empty": Bottle(&bottle.Graph{To: 5}), "bottle-one": Bottle(bottleOf(bottle.Box{Name: "main#1", Kind: activity.KindMain, HeightNs: 10, Width: 1})),
		"bottles": Bottles(windows), "bottle-row": BottleRow(severalBottles(), false), "bottle-row-one": BottleRow(severalBottles()[1:2], true), "bottle-row-empty": BottleRow(nil, false),
		"stack": Stacks([]StackGroup{{Bars: lusearch}}), "stack-groups": Stacks([]StackGroup{{Label: "1 GC thread", Bars: lusearch}, {Label: "2 GC threads", Bars: negative}}),
		"stack-empty": Stacks(nil), "mmu": MMU(curve),
		"warmup": Warmup(warmCurve(12, 3)), "warmup-one": Warmup(warmCurve(1, 1)), "warmup-many": Warmup(warmCurve(300, 1)), "warmup-empty": Warmup(WarmCurve{}),
	}
}

// configurations are runs with as many threads of both kinds, as in the paper: work grows with both, time is least at two.
func configurations() []gc.Configuration {
	var all []gc.Configuration
	for _, n := range []int{2, 4, 8} {
		for _, g := range []int{1, 2, 4, 8} {
			c := gc.Configuration{Levels: []string{fmt.Sprint(n), fmt.Sprint(g), "Parallel"}}
			for _, off := range []float64{0.96, 1, 1.04} {
				work := 1e8 * off * (0.8 + 0.1*float64(n)) * (1 + 0.17*float64(g))
				app := 1e9 * off * (1 + 0.05*float64(n))
				c.Runs = append(c.Runs, gc.Work{
					GC:          bottle.Box{RunningNs: units.Ns(work), HeightNs: work / math.Min(float64(g), 1.5+0.05*float64(g))},
					Application: bottle.Box{RunningNs: units.Ns(app), HeightNs: app / float64(n) * 1.2},
					Collections: int(20*off) + 2*n, PauseNs: units.Ns(work), GCWaits: int(50 * float64(g*g) * off), ApplicationWaits: 300 * n,
				})
			}
			all = append(all, c)
		}
	}
	return all
}

// configurationsOfHalf are those of another program, half as large, whose work grows more slowly. It did not run with eight GC threads.
func configurationsOfHalf() []gc.Configuration {
	var all []gc.Configuration
	for _, c := range configurations() {
		c.Levels[2] = "half"
		for i := range c.Runs {
			c.Runs[i].GC.RunningNs = units.Ns(math.Sqrt(float64(c.Runs[i].GC.RunningNs)) * 5000)
		}
		if c.Levels[1] != "8" {
			all = append(all, c)
		}
	}
	return all
}

// configurationsOverHeaps are collectors of which one does not run in the smallest heap.
func configurationsOverHeaps() []gc.Configuration {
	var all []gc.Configuration
	for _, collector := range []string{"G1", "ZGC"} {
		for i, heap := range []string{"1x", "1.5x", "2x", "3x", "6x"} {
			c := gc.Configuration{Levels: []string{collector, heap}}
			if collector != "ZGC" || i > 0 {
				work := 3e8/float64(i+1) + 5e7*float64(len(collector))
				c.Runs = []gc.Work{{GC: bottle.Box{RunningNs: units.Ns(work), HeightNs: work / 1.6}}}
			}
			all = append(all, c)
		}
	}
	return all
}

// timelineOf is so many workers that do all that threads do, over ten seconds.
func timelineOf(workers, rows int) *Figure {
	rng := rand.New(rand.NewPCG(9, uint64(workers)))
	const s = units.MonoNs(1e9)
	threads := []activity.Thread{{Name: "main#1", Kind: activity.KindMain}, {Name: "GC Thread#0@9", Kind: activity.KindGC}}
	all := []activity.Slice{
		{Thread: 0, State: activity.Running, From: s, To: 2 * s}, {Thread: 0, State: activity.Futex, From: 2 * s, To: 10 * s}, {Thread: 0, State: activity.Running, From: 10 * s, To: 11 * s},
		{Thread: 1, State: activity.Futex, From: s, To: 4 * s}, {Thread: 1, State: activity.Running, From: 4 * s, To: 4*s + 3e8}, {Thread: 1, State: activity.Futex, From: 4*s + 3e8, To: 11 * s},
	}
	ran := map[string]units.Ns{"main#1": 2e9, "GC Thread#0@9": 3e8}
	for w := range workers {
		name := fmt.Sprintf("pool-1-thread-%d#%d", w+1, w+20)
		threads = append(threads, activity.Thread{Name: name, Kind: activity.KindApplication, First: 2 * s})
		for at := 2 * s; at < 10*s; {
			to := min(at+units.MonoNs(rng.ExpFloat64()*1e8)+1, 10*s)
			state := []activity.ThreadState{activity.Running, activity.Running, activity.Futex, activity.Runnable, activity.IO, activity.Sleeping, activity.Blocked, activity.Unknown}[min(rng.IntN(40)/4, 7)]
			if at > 4*s && at < 4*s+3e8 {
				state = activity.Futex
			}
			all = append(all, activity.Slice{Thread: uint32(w + 2), State: state, From: at, To: to})
			if state == activity.Running {
				ran[name] += units.Ns(to - at)
			}
			at = to
		}
	}
	t, err := timeline.Compute(threads, activity.Of(all), granularity.NewGrid(s, 11*s, 240), ran, max(rows, 40)-max(0, rows-20))
	if err != nil {
		panic(err)
	}
	return Timeline(Times{s, 11 * s, 2 * s}, t, []activity.Span{{From: 4 * s, To: 4*s + 3e8}, {From: 7 * s, To: 7*s + 1e6}}, 2)
}
