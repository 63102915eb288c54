package times

import (
	"math"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc/sched"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// NoteAccount says how well the running times of a scheduling record agree with
// the kernel's account of the process.
func NoteAccount(env console.Env, a *sched.Account) {
	if a == nil {
		env.Note("running times are not compared with the kernel's account of the process: it was read less than twice, or the record has gaps or did not end cleanly")
		return
	}
	off := float64(a.Running-a.CPU) / math.Max(float64(a.CPU), 1)
	estimated := ""
	if a.Estimated != 0 {
		sign, ns := "+", a.Estimated
		if ns < 0 {
			sign, ns = "-", -ns
		}
		estimated = " (" + sign + units.FormatNs(ns) + " by estimate)"
	}
	behind := ""
	if a.Behind != 0 {
		behind = ", which may be off by " + units.FormatNs(a.Behind)
	}
	if math.Abs(off) < 0.00005 {
		off = 0 // not -0.00 %
	}
	env.Note("over %s running times add up to %s, the kernel's account of the process to %s%s: %+.2f %%%s",
		units.FormatNs(units.Ns(a.To-a.From)), units.FormatNs(a.Running), units.FormatNs(a.CPU), behind, 100*off, estimated)
}

// NoteCost says what the scheduling record cost shadow, and the kernel if that is known.
func NoteCost(env console.Env, c *sched.Cost) {
	if c == nil {
		return
	}
	kernel := "what it cost in the kernel is not available: " + table.Clean(c.KernelUnknown)
	if c.KernelUnknown == "" {
		kernel = "the kernel spent " + units.FormatNs(c.Kernel) + " in " + text.PluralExact(min(c.Runs, math.MaxInt64), "run", "runs") + " of its programs"
	}
	env.Note("shadow spent %s of CPU time on the record, in %s; %s", units.FormatNs(c.Reading), text.PluralExact(min(c.Looks, math.MaxInt64), "look", "looks"), kernel)
}
