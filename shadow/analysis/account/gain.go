package account

import (
	"errors"
	"fmt"

	"stackagent/granularity/account"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// Gain is what a replay of the run with a change says: how long the run takes, and the units that waited for the obstacle.
type Gain struct {
	Change      string   `json:"change"` // in words
	LengthNs    units.Ns `json:"length_ns"`
	ResponseNs  units.Ns `json:"response_ns"`  // the mean of the class
	RecordedNs  units.Ns `json:"recorded_ns"`  // the same, as it was
	SavedShare  float64  `json:"saved_share"`  // of the length
	SoonerShare float64  `json:"sooner_share"` // of the response time
}

// Reasons why there is no prediction.
var (
	errServed  = errors.New("which requests a thread serves is not recorded")
	errPeer    = errors.New("a thread of the program answers what the holder waits for, and takes as long for each without the lock")
	errSlower  = errors.New("how long compiled code would take for it is not known")
	errKept    = errors.New("of some of these waits it is not recorded that they keep the carrier")
	errTurns   = errors.New("how the system or a pool would let them take turns is not known")
	errInside  = errors.New("how long the initialiser of a class takes without others waiting for it is not recorded")
	errEmptied = errors.New("how fast the queue could be emptied is not known")
	errHanded  = errors.New("how long each unit keeps what others wait for is not recorded")
	errAfter   = errors.New("a replay ends with the last task")
	errPart    = errors.New("this was found in a part of the session, and a replay is of a whole run")
	errParts   = errors.New("into how many parts the work would be cut is not known")
	errStarts  = errors.New("how long the threads that start others take for it is not recorded")
	errMany    = errors.New("only the largest obstacles are replayed")
	errLeft    = errors.New("what they wait for never began, and how long it would take is not known")
	errGaveUp  = errors.New("units gave up at the time limit of a wait, and how long they would have waited is not recorded")
	errOthers  = errors.New("which of them each unit would go to is not known")
	errNobody  = errors.New("when it would have been ended is not known")
	errPeriod  = errors.New("what its period should be is not known")
	errSwitch  = errors.New("a replay does not know what it costs to switch virtual threads")
	errFine    = errors.New("how much of that cost would remain with larger tasks is not known")
	errSummed  = errors.New("most of these units were not recorded one by one, and a replay does not have them")
	errOrder   = errors.New("a replay does not know priorities, and the run does not get shorter")
)

// A gain below both shares cannot be seen: two runs of the same program differ by a few percent. Of few workers, who has as many as was meant, units
// must end much sooner if the run does not get shorter.
const (
	leastSaved  = 0.05
	leastSooner = 0.1
	muchSooner  = 0.5
)

// unpinned is the change to virtual threads that leave their carriers whenever they wait.
const unpinned = "if no virtual thread keeps its carrier while it waits"

// wider is by how much wider a pool is in the replay for units that wait.
const wider = 20

// mostTried bounds how many obstacles are tried: each takes several replays of the run.
const mostTried = 8

// Try replays the run with what the remedy of each obstacle stands for, and drops the obstacles whose change gains nothing.
func (s *Session) Try() {
	kept := s.Obstacles[:0]
	for i := range s.Obstacles {
		o := &s.Obstacles[i]
		err := errMany
		if i < mostTried {
			err = s.try(o)
		}
		if err != nil {
			o.CannotTell = err.Error()
		}
		if o.Gain != nil && !o.Gain.seen(o.Kind) {
			switch {
			case (o.Kind == Occupied || o.Kind == WaitsForItself) && s.graph.Graph.Executors[o.why.executor].Leaves:
				o.Gain, o.CannotTell = nil, errKept.Error()
			case o.Kind == Held && s.isAnswered(o.why.root): // without the lock they all wait for that
				o.Gain, o.CannotTell = nil, errPeer.Error()
			case o.Kind == WaitsForItself:
				o.Gain, o.CannotTell = nil, errGaveUp.Error()
			}
		}
		if o.Gain == nil || o.Gain.seen(o.Kind) || o.Kind == TooLarge && o.Gain.SavedShare > -leastSaved { // it costs memory in any case
			kept = append(kept, *o)
		}
	}
	s.Obstacles = kept
}

// OfPart says that the account is of a part of a session, of which a replay says nothing about the run.
func (s *Session) OfPart(from, to units.Ns) {
	s.Part = &Span{from, to}
	for i := range s.Obstacles {
		s.Obstacles[i].CannotTell = errPart.Error()
	}
}

// isAnswered reports whether a unit waits for input that a thread of the program sends.
func (s *Session) isAnswered(f account.Frame) bool {
	_, answered := s.account.Peers[f.On]
	return answered && f.State == account.IO
}

// Share is what the sentence begins with: how much shorter the run is or, if that cannot be seen, how much sooner the units end.
func (g *Gain) Share() float64 {
	if g.SavedShare >= leastSaved {
		return g.SavedShare
	}
	return g.SoonerShare
}

// seen reports whether a gain can be seen.
func (g *Gain) seen(kind Kind) bool {
	least := leastSooner
	if kind == FewWorkers {
		least = muchSooner
	}
	return g.SavedShare >= leastSaved || g.SoonerShare >= least
}

func (s *Session) try(o *Obstacle) error {
	change, words, err := s.changeFor(o)
	if err != nil {
		return err
	}
	if s.mostlySummed(o.why.executor) || s.isSummed(o.why.victim) {
		return errSummed
	}
	p, err := s.graph.Predict(change)
	if err != nil {
		return err
	}
	if p.Why != nil {
		return p.Why
	}
	// Both from replays, so that their own error is no gain.
	left := float64(account.MeanResponse(p.Graph, p.Schedule, o.why.victim)) / float64(max(1, account.MeanResponse(s.graph.Graph, p.Before, o.why.victim)))
	recorded := account.MeanResponse(s.graph.Graph, s.graph.Recorded, o.why.victim)
	length := p.Expected()
	o.Gain = &Gain{Change: words, LengthNs: length, ResponseNs: units.Ns(left * float64(recorded)), RecordedNs: recorded,
		SavedShare: 1 - float64(length)/float64(max(1, p.Recorded)), SoonerShare: 1 - left}
	return nil
}

// changeFor is the change that the remedy of an obstacle stands for. An error says why a replay says nothing about it.
func (s *Session) changeFor(o *Obstacle) (replay.Change, string, error) {
	pool := func(n int) (replay.Change, string, error) {
		all := map[uint32]int{}
		for _, e := range s.ofFamily(o.why.executor) {
			all[e] = n
		}
		if len(all) > 1 {
			return replay.Change{Pool: all}, fmt.Sprintf("with %d workers each", n), nil
		}
		return replay.Change{Pool: all}, fmt.Sprintf("with %d workers", n), nil
	}
	switch o.Kind {
	case FineGrained:
		return replay.Change{}, "", errFine
	case FewWorkers:
		return pool(s.CPUs)
	case OneOfMany:
		return replay.Change{}, "", errOthers // of threads that are alike, too
	case Batched:
		return pool(max(s.CPUs, s.count(o.why.executor)))
	case Occupied:
		if s.graph.Graph.Executors[o.why.executor].Leaves {
			return replay.Change{Unpin: true}, unpinned, nil
		}
		change, words, err := pool(max(2, wider*s.count(o.why.executor)))
		if s.graph.Pooled[o.why.executor] {
			words += ", if what they wait for serves as many at a time"
		}
		return change, words, err
	case WaitsForItself:
		if o.why.left {
			return replay.Change{}, "", errLeft
		}
		if s.graph.Graph.Executors[o.why.executor].Leaves {
			return replay.Change{Unpin: true}, unpinned, nil
		}
		c, _, err := pool(max(2, 5*wider*s.count(o.why.executor)))
		return c, "if no part waits for a worker", err
	case Held:
		if o.why.place == 0 {
			return replay.Change{}, "", errInside
		}
		free := map[uint32]bool{}
		for n, p := range s.account.Places {
			if s.freed(p.Class) && s.samePlace(uint32(n)) == o.why.place-1 {
				free[p.Class] = true
			}
		}
		if len(free) == 0 {
			return replay.Change{}, "", errHanded
		}
		if s.isMap(o.why.place - 1) {
			return replay.Change{Free: free}, "at best, if all who wait want other keys", nil
		}
		return replay.Change{Free: free}, "if nobody waits for it", nil
	case Interpreted:
		return replay.Change{}, "", errSlower
	case KeptAlive:
		return replay.Change{}, "", errAfter
	case Unanswered:
		return replay.Change{}, "", errNobody
	case Polling:
		if o.why.place == 0 {
			return replay.Change{}, "", errSwitch
		}
		return replay.Change{Prompt: true}, "if it continues when they end", nil
	case FullQueue:
		if s.idleAt(o.why.holder, o.why.place-1) < leastIdle {
			return replay.Change{}, "", errEmptied
		}
		all := map[[2]uint32]bool{}
		for n, p := range s.account.Places {
			if p.Room && s.samePlace(uint32(n)) == o.why.place-1 {
				all[[2]uint32{p.Class, p.Site}] = true
			}
		}
		return replay.Change{Room: all}, "if the queue always has room", nil
	case DoesNotSplit, Uneven:
		return replay.Change{}, "", errParts
	case Collection:
		return replay.Change{Pauses: map[uint32]bool{o.why.root.On: true}}, "without these pauses", nil
	case InOrder:
		all := map[uint32]bool{}
		for u := range s.account.Ordered {
			if s.graph.Graph.Units[u].Class == o.why.worker {
				all[u] = true
			}
		}
		return replay.Change{Meanwhile: all}, "at best, if it computes meanwhile", nil
	case OneByOne, InRounds:
		if o.why.worker == o.why.holder {
			return replay.Change{}, "", errParts
		}
		if o.why.worker == 0 && s.resubmits(o.why.holder) {
			return replay.Change{}, "", errParts
		}
		if o.why.worker == 0 {
			return replay.Change{Chains: map[uint32]bool{o.why.holder: true}}, "if all are submitted first", nil
		}
		all := map[uint32]bool{}
		for _, list := range []map[uint32]bool{s.account.Alone, s.account.Rounds} {
			for u := range list {
				if s.graph.Graph.Units[u].Class == o.why.worker {
					all[u] = true
				}
			}
		}
		return replay.Change{Together: all}, "if all are submitted first", nil
	case Order:
		if s.graph.Graph.Executors[o.why.executor].Order == graph.FIFO { // by priority: a replay knows of none
			return replay.Change{}, "", errOrder
		}
		all := map[uint32]bool{}
		for _, e := range s.ofFamily(o.why.executor) {
			all[e] = true
		}
		return replay.Change{FIFO: all}, "first in, first out", nil
	case Overrun:
		return replay.Change{}, "", errPeriod
	case BlockedServer:
		return replay.Change{}, "", errServed
	case Crowded:
		if s.graph.Graph.Executors[o.why.executor].Leaves || s.count(o.why.executor) <= s.CPUs {
			return replay.Change{}, "", errTurns
		}
		return pool(s.CPUs)
	case SlowProducer:
		w := s.work(o.why.holder)
		left := w.cpuNs - w.between + w.between/units.Ns(max(1, s.CPUs))
		return replay.Change{Faster: map[uint32]float64{o.why.holder: float64(w.cpuNs) / float64(max(1, left))}}, "if the CPUs share what it computes meanwhile", nil
	case ThreadChurn:
		return replay.Change{}, "", errStarts
	case TooLarge:
		return pool(s.workersFor(o.why.executor))
	case WorkInflation:
		cpu := s.work(o.why.victim).cpuNs
		for _, x := range s.account.Dearer {
			if x.Class == o.why.victim {
				return replay.Change{Faster: map[uint32]float64{x.Class: float64(cpu) / float64(max(1, cpu-x.Extra))}}, "if each takes as long as alone", nil
			}
		}
	}
	return replay.Change{}, "", errHanded
}

// freed reports whether the graph has locks or events of a class.
func (s *Session) freed(class uint32) bool {
	for _, r := range s.graph.Graph.Resources {
		if r.Class == class {
			return true
		}
	}
	return false
}

// Outcome says what the change gains, in a sentence; "": nothing is known.
func (o *Obstacle) Outcome() string {
	switch g := o.Gain; {
	case g != nil && g.SavedShare >= leastSaved:
		return fmt.Sprintf("Predicted %s: the run takes %s (%s less), a unit of %s %s instead of %s.", g.Change, units.FormatNs(g.LengthNs), units.FormatPercent(g.SavedShare),
			o.Victim, units.FormatNs(g.ResponseNs), units.FormatNs(g.RecordedNs))
	case g != nil:
		length := "does not get shorter"
		if g.SavedShare <= -leastSaved {
			length = fmt.Sprintf("takes %s, %s longer", units.FormatNs(g.LengthNs), units.FormatPercent(-g.SavedShare))
		}
		sooner := ""
		if g.SoonerShare >= leastSooner {
			sooner = fmt.Sprintf(" (%s less)", units.FormatPercent(g.SoonerShare))
		}
		return fmt.Sprintf("Predicted %s: a unit of %s takes %s instead of %s%s; the run %s.", g.Change, o.Victim, units.FormatNs(g.ResponseNs), units.FormatNs(g.RecordedNs), sooner, length)
	case o.CannotTell != "":
		return fmt.Sprintf("Cannot tell what it saves: %s.", o.CannotTell)
	}
	return ""
}
