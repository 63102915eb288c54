package wait

import (
	"stackagent/shadow/session"
)

// stalls adds the waits for the collector outside of pauses, each with the time that the thread then waited for a CPU:
// so the collector's own log counts them.
func (a *Analysis) stalls(record *session.Activity) error {
	all, why, err := record.Stalls(a.s.Manifest.StartNs, a.s.Manifest.EndNs)
	if err != nil {
		return err
	}
	if why != "" {
		a.NotAvailable["waits for the collector outside of pauses"] = why
		return nil
	}
	for i := range all {
		class := "collector, outside of pauses"
		if all[i].Paced {
			class = "collector, which slows allocation down"
		}
		what := a.what(What{For: ForGC, Class: class})
		r := a.record[what]
		if r == nil {
			r = &Row{What: a.whats[what]}
			a.record[what] = r
		}
		waited := all[i].Len() + all[i].Ready
		r.add(1, waited, waited)
	}
	return nil
}
