package agent

import (
	"fmt"

	"stackagent/agent/options"
	"stackagent/agent/publish"
	"stackagent/internal/text"
	"stackagent/jvmti"
)

// spool says where batches wait when the bus does not take them and memory is full.
func (a *Agent) spool() publish.Spool {
	if a.options.Spool == options.SpoolOff {
		return publish.Spool{}
	}
	return publish.Spool{Folder: a.options.Spool, MaxBytes: a.options.SpoolBytes}
}

// keep ends the publishing and reports what happens to undelivered batches.
func (a *Agent) keep() {
	what, remedy := a.publisher.Trouble()
	delivered := a.publisher.Stats().Acknowledged
	kept, err := a.publisher.Keep()
	if kept.Batches > 0 {
		also := ""
		if a.options.Spool == "" { // a shadow looks only into the default folder
			also = ", and so does a `shadow serve` on this machine at that address"
		}
		jvmti.Say(fmt.Sprintf("%s: %d of %d batches are kept in %s; `shadow deliver %s` stores them%s",
			what, kept.Batches, uint64(kept.Batches+kept.Lost)+delivered, kept.Path, text.ShellWord(kept.Path), also))
	}
	if kept.Lost == 0 {
		if err != nil {
			jvmti.Say(err.Error())
		}
		return
	}
	why := ""
	if err != nil {
		why = " (" + err.Error() + ")"
	}
	jvmti.Say(fmt.Sprintf("%s: %d of %d batches are lost%s; %s", what, kept.Lost, uint64(kept.Batches+kept.Lost)+delivered, why, remedy))
}
