package sched

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/units"
)

// scripted reports what it is given, up to the time that it is set to.
type scripted struct {
	events []event
	at     units.MonoNs
}

func (*scripted) name() string                                 { return "script" }
func (*scripted) notAvailable() map[string]string              { return nil }
func (*scripted) launch(start func() error) error              { return start() }
func (*scripted) watch(int) error                              { return nil }
func (*scripted) unwatch(int)                                  {}
func (*scripted) lost(int) uint64                              { return 0 }
func (*scripted) guess(int, *live, units.MonoNs) (State, bool) { return 0, false }
func (*scripted) close()                                       {}
func (s *scripted) spent() (units.Ns, uint64, string)          { return 0, 0, "a test" }
func (s *scripted) poll(into []event) ([]event, units.MonoNs, error) {
	into = append(into, s.events...)
	s.events = nil
	return into, s.at, nil
}

// A process ends when a part of its record is due, after its records were read. Its last
// records arrive with the next look; if they do not, the observer gives them up.
func TestProcessGoneAtPart(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	pid := ended.ProcessState.Pid()
	for name, arrives := range map[string]bool{"its end arrives later": true, "its end is lost": false} {
		t.Run(name, func(t *testing.T) {
			src := &scripted{at: units.MonoNs(time.Hour)}
			o := &Observer{src: src, processes: map[int]*process{}}
			records := func(kinds ...eventKind) (all []event) {
				for _, kind := range kinds {
					all = append(all, event{at: src.at - 1, pid: int32(pid), tid: int32(pid), kind: kind, cpuTime: units.NotMeasured})
				}
				return all
			}
			src.events = records(eventNew, eventIn)
			o.poll()
			dir := filepath.Join(t.TempDir(), Folder)
			w, err := Create(dir, Record{Source: src.name(), PID: pid})
			if err != nil {
				t.Fatal(err)
			}
			p := o.processes[pid]
			p.writer = w
			src.at += 2 * partLeast
			o.poll()
			if p.over {
				t.Fatal("ended before its last records could be read")
			}
			src.at += endPatience
			if arrives {
				src.events = records(eventEnd)
			}
			o.poll()
			if p.over != arrives {
				t.Errorf("over %v, its end arrived: %v", p.over, arrives)
			}
			src.at++
			o.poll()
			if !p.over || p.err != nil {
				t.Errorf("over %v, error %v", p.over, p.err)
			}
			r := open(t, filepath.Dir(dir))
			if th := r.Record().Threads; len(th) != 1 || th[0].EndSeen != arrives {
				t.Errorf("%+v", th)
			}
		})
	}
}
