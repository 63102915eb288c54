package diff

import (
	"math"
	"slices"

	"stackagent/granularity/estimate"
	"stackagent/shadow/session/unit"
)

// family is a set of figures whose p are corrected together. What may go wrong in all is divided among them, so that hundreds of
// classes of the JDK hide neither the program's nor what the run did as a whole.
type family int

const (
	aims     family = iota // throughput, response and queue time of the run
	programs               // what else there is of the run, and the program's classes
	platform               // classes of the JDK
	families
)

// portions are the parts of the 5 % that each family has.
var portions = [families]float64{aims: 0.4, programs: 0.4, platform: 0.2}

func (d *Diff) familyOf(r *Row, f *Figure) family {
	switch {
	case r.By == Whole && f.aim:
		return aims
	case (r.By == Class || r.By == Path || r.By == Each) && d.isJDK(r):
		return platform
	}
	return programs
}

func (d *Diff) isJDK(r *Row) bool { return d.jdk[r.Name] || unit.IsJDK(r.Name, 0) }

// judge corrects the p of all rows that are large enough, and says what is different. Objectives come first: if B had more
// or fewer units of work, all sums follow from that, and what a unit takes is judged in their place.
func (d *Diff) judge(a, b []*Run) {
	present := d.families()
	d.correct(aims, portion(aims, present))
	if d.otherUnits() {
		d.perUnit(a, b)
	}
	for _, f := range []family{programs, platform} {
		d.correct(f, portion(f, present))
	}
}

// families are those that have figures to judge.
func (d *Diff) families() (present [families]bool) {
	for _, r := range d.Rows {
		for i := range r.Figures {
			if r.Figures[i].P != nil && r.Share >= leastShare {
				present[d.familyOf(r, &r.Figures[i])] = true
			}
		}
	}
	return present
}

// portion is that of a family among those that are there.
func portion(f family, present [families]bool) float64 {
	all := 0.0
	for i, there := range present {
		if there {
			all += portions[i]
		}
	}
	return portions[f] / max(all, portions[f])
}

// correct judges the figures of a family.
func (d *Diff) correct(of family, portion float64) {
	var tested []*Figure
	var p []float64
	for _, r := range d.Rows {
		alone := d.alone(r)
		for i := range r.Figures {
			f := &r.Figures[i]
			switch {
			case d.familyOf(r, f) != of || f.Verdict == NotKnown || f.Verdict == Follows:
			case alone != "":
				f.Verdict = alone
			case f.P == nil:
			case r.Share < leastShare:
				f.Verdict = Small
			default:
				tested, p = append(tested, f), append(p, *f.P)
			}
		}
	}
	for i, q := range estimate.Holm(p) {
		q = min(1, q/portion)
		tested[i].Holm, tested[i].Verdict = &q, NoDifference
		if q < 1-estimate.Confidence {
			tested[i].Verdict = Different
			d.Different++
		}
	}
	d.Judged += len(tested)
}

// figure finds one of the whole run; nil: there is none.
func (d *Diff) figure(name string) *Figure {
	for _, r := range d.Rows {
		if i := slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name }); r.By == Whole && i >= 0 {
			return &r.Figures[i]
		}
	}
	return nil
}

// otherUnits reports whether B had more or fewer units of work. Of single runs nobody can say whether that was by chance.
func (d *Diff) otherUnits() bool {
	f := d.figure("units")
	return f != nil && (f.Verdict == Different || f.Verdict == NoInterval && math.Abs(f.Change.Mean) >= leastShown)
}

// perUnitSuffix ends the names of figures that are divided by the units of work of the run.
const perUnitSuffix = "_per_unit"

// perUnit puts what a unit of work takes before each sum.
func (d *Diff) perUnit(a, b []*Run) {
	d.PerUnit = true
	for _, r := range d.Rows {
		var figs []Figure
		for _, f := range figures[r.By] {
			if r.By == Whole || !f.sum || f.count { // how many threads start does not depend on the units
				continue
			}
			each := f
			each.name, each.title = f.name+perUnitSuffix, f.title+" per unit"
			va, vb := ofUnit(a, values(a, r.a, f, r.In != "b")), ofUnit(b, values(b, r.b, f, r.In != "a"))
			if len(va)+len(vb) > 0 {
				figs = append(figs, compare(each, va, vb))
				figs[len(figs)-1].bound(f, partial(a), partial(b))
			}
		}
		for i := range r.Figures {
			f := &r.Figures[i]
			if isTotal(r.By, f.Name) && f.Verdict != NotKnown {
				f.Verdict = Follows
			}
		}
		r.Figures = append(figs, r.Figures...)
	}
}

// isTotal reports whether a figure grows with the units of work.
func isTotal(by By, name string) bool {
	return slices.ContainsFunc(figures[by], func(f figure) bool { return f.name == name && (f.sum || f.total) })
}

// ofUnit divides values of runs by their units of work.
func ofUnit(runs []*Run, v []float64) []float64 {
	if len(v) != len(runs) {
		return nil
	}
	out := make([]float64, len(v))
	for i, r := range runs {
		out[i] = v[i] / r.Rows[Key{Whole, ""}]["units"]
	}
	return out
}
