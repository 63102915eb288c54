package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// VirtualFacts are how virtual threads got on and off their carriers.
type VirtualFacts struct {
	JDK      int // feature release; 0: not known
	Carriers int // platform threads that carried them
	// Pins and Pinned are how often and how long one parked without leaving its carrier;
	// Class is whose bodies did for longest, with its share.
	Pins        int64
	Pinned      units.Ns
	Class       string
	ClassPins   int64
	ClassPinned units.Ns
	// Active is how long a unit waited or ran on one of them.
	Active units.Ns
	// Waited is how long at least one waited for a carrier, by what is known for sure,
	// and Waiting how long at most.
	Waited, Waiting units.Ns
	// Mounted is how long they were on carriers and not parked there, summed.
	Mounted units.Ns
	CPU     units.Ns // of their units; NotMeasured where it is not known of all
	// Partly: some were told together, without the times of each.
	Partly bool
}

// held is for how much of the carriers' time, at least, pinned threads kept them while
// another one waited for one. While one waits all carriers have a thread; as long as
// these were not parked they were at work.
func (v *VirtualFacts) held(carriers int) units.Ns {
	return min(v.Pinned, v.Waited*units.Ns(carriers)-v.Mounted)
}

// pinned: virtual threads keep their carriers while they are parked, and others have none.
func (f *UnitFacts) pinned(t Thresholds) (Finding, bool) {
	v := f.Virtual
	if v == nil || v.Partly || f.Lost || v.Pins < max(1, t.PoolUnits) || v.Active < t.PoolTime || v.Carriers <= 0 || f.CPUs <= 0 {
		return Finding{}, false
	}
	n := min(v.Carriers, f.CPUs) // there are more where the JDK made some in place of blocked ones
	all := v.Active * units.Ns(n)
	held := v.held(n)
	saved := min(v.Pinned, v.Waiting, v.Active-orNone(v.CPU)/units.Ns(f.CPUs))
	if float64(held) < t.Pinned*float64(all) || float64(saved) < t.Pinned*float64(v.Active) {
		return Finding{}, false
	}
	return Finding{
		Kind: Advice, Topic: "pool", Name: "pinned-threads", Class: v.Class, Gain: bound(saved, f.Duration),
		Text: fmt.Sprintf("Virtual threads parked %s while pinned to their carriers, for %s in all (%s and %s in threads of %s%s): for %s of the time of %s they kept these while others waited for one. "+
			"%s; JFR's event jdk.VirtualThreadPinned tells where: that can shorten the run by at most %s (%s).",
			text.Plural(v.Pins, "time", "times"), units.FormatNs(v.Pinned), text.Plural(v.ClassPins, "time", "times"), units.FormatNs(v.ClassPinned), readable(v.Class), f.placeOf(v.Class),
			units.FormatPercent(float64(held)/float64(all)), text.Plural(n, "carrier", "carriers"), v.unpin(), units.FormatNs(saved), f.ofRun(saved)),
	}, true
}

// unpin is what to do about it: until JDK 23 synchronized pins, too (JEP 491).
func (v *VirtualFacts) unpin() string {
	const native = "o not block in static initialisers, in class loaders, and in what native code calls"
	if v.JDK >= 24 {
		return "D" + native
	}
	return "Use a lock of java.util.concurrent in place of synchronized around what blocks (JDK 24 and later do not pin there), and d" + native
}

// placeOf says where a class was handed over, as far as known.
func (f *UnitFacts) placeOf(class string) string {
	for i := range f.Classes {
		if c := &f.Classes[i]; c.Name == class {
			return c.at()
		}
	}
	return ""
}
