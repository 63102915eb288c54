package session

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// ErrNoContexts means that no calling contexts were recorded.
var ErrNoContexts = errors.New("the session has no calling contexts: profile again with --contexts N (or all)")

// Context is a stack on which tasks of a class were created, submitted or
// executed, and how often. With Manifest.Contexts.Every above 1 one event in so
// many was looked at, and Count and work are estimates: that of these events
// times Every.
type Context struct {
	ID       uint32
	Kind     string   // store.ContextCreation, ...
	Class    uint32   // ClassByID of the task
	Cut      bool     // the stack goes on beyond Frames
	Frames   []*Site  // innermost first; nil: not known
	Sampled  int64    // events looked at; executions: those that have ended
	Count    int64    // events
	SelfWall units.Ns // of executions
	SelfCPU  units.Ns // the same; of those of which it is known, NotMeasured if of none
}

// HasContexts reports whether calling contexts were recorded.
func (s *Session) HasContexts() bool { return s.Manifest.Contexts != nil }

// Every is of how many events one was looked at for its calling context.
func (s *Session) Every() uint64 {
	if s.Manifest.Contexts == nil {
		return 0
	}
	return max(1, s.Manifest.Contexts.Every)
}

// contextSum is what the rows of a context add up to.
type contextSum struct {
	count, measured uint64
	wall, cpu       units.Ns
	bytes           uint64
}

// eachSum calls use with each context of some kinds that has sums, once, its frames and what its rows add up to. what they are is for the error.
func (s *Session) eachSum(what string, use func(r *store.Context, frames []*Site, sum *contextSum), kinds ...string) error {
	frames, err := s.frames()
	if err != nil {
		return err
	}
	sums, err := s.contextSums()
	if err != nil {
		return err
	}
	bad, err := s.folder.ReadContexts(func(r *store.Context) {
		sum := sums[r.ID]
		if sum == nil || !slices.Contains(kinds, r.Kind) {
			return
		}
		delete(sums, r.ID) // the last row of an id counts, and all are the same
		use(r, framesOf(frames, r), sum)
	})
	s.warnAll(bad)
	if err != nil {
		return fmt.Errorf("reading the %s of session %s: %w", what, s.Manifest.Session, err)
	}
	return nil
}

// Contexts reads the calling contexts in the order of their ids.
func (s *Session) Contexts() ([]Context, error) {
	if !s.HasContexts() {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, ErrNoContexts)
	}
	frames, err := s.frames()
	if err != nil {
		return nil, err
	}
	sums, err := s.contextSums()
	if err != nil {
		return nil, err
	}
	rows := map[uint32]Context{}
	bad, err := s.folder.ReadContexts(func(r *store.Context) {
		switch r.Kind {
		case store.ContextWait, store.ContextAllocation, store.ContextThrown, store.ContextPolling, store.ContextComputing, store.ContextLate, store.ContextYielding, store.ContextInterpreted:
			delete(sums, r.ID)
		default:
			rows[r.ID] = Context{ID: r.ID, Kind: r.Kind, Class: r.Class, Cut: r.Cut, Frames: framesOf(frames, r)}
		}
	})
	s.warnAll(bad)
	if err != nil {
		return nil, fmt.Errorf("reading the contexts of session %s: %w", s.Manifest.Session, err)
	}
	out := make([]Context, 0, len(rows))
	for id, c := range rows {
		if sum := sums[id]; sum != nil {
			s.estimate(&c, sum)
			out = append(out, c)
			delete(sums, id)
		}
	}
	if len(sums) > 0 {
		s.warn(fmt.Sprintf("%d calling contexts have figures and no stack: parts of the session are missing", len(sums)))
	}
	slices.SortFunc(out, func(a, b Context) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// estimate scales what was looked at to all.
func (s *Session) estimate(c *Context, sum *contextSum) {
	every := s.Every()
	c.Sampled, c.Count = scaled(sum.count, 1), scaled(sum.count, every)
	c.SelfWall = units.Ns(scaled(uint64(sum.wall), every))
	if c.SelfCPU = units.NotMeasured; sum.measured > 0 {
		c.SelfCPU = units.Ns(scaled(uint64(sum.cpu), every))
	}
}

// scaled is n times every, or the largest number where that does not fit.
func scaled(n, every uint64) int64 {
	if high, low := bits.Mul64(n, every); high == 0 && low <= math.MaxInt64 {
		return int64(low)
	}
	return math.MaxInt64
}

// framesOf are the frames of a context.
func framesOf(frames *named[Site], r *store.Context) (list []*Site) {
	for _, id := range r.Frames[:min(len(r.Frames), wire.MaxFrames)] {
		list = append(list, frames.get(id))
	}
	return list
}

func (s *Session) frames() (*named[Site], error) {
	rows := map[uint32]Site{}
	bad, err := s.folder.ReadFrames(func(r *store.Frame) {
		rows[r.ID] = Site{ID: r.ID, Class: r.Class, Method: r.Method, File: r.File, Line: r.Line}
	})
	s.warnAll(bad)
	if err != nil {
		return nil, fmt.Errorf("reading the frames of session %s: %w", s.Manifest.Session, err)
	}
	var all named[Site]
	all.load(rows, func(x *Site) uint32 { return x.ID })
	return &all, nil
}

func (s *Session) contextSums() (map[uint32]*contextSum, error) {
	sums := map[uint32]*contextSum{}
	bad, err := s.folder.ReadContextSums(func(r *store.ContextSum) {
		x := sums[r.ID]
		if x == nil {
			x = &contextSum{}
			sums[r.ID] = x
		}
		x.count, x.measured = plus(x.count, r.Count), plus(x.measured, r.Measured)
		x.wall, x.cpu = plusNs(x.wall, r.SelfWallNs), plusNs(x.cpu, r.SelfCPUNs)
		x.bytes = plus(x.bytes, r.Bytes)
	})
	s.warnAll(bad)
	if err != nil {
		return nil, fmt.Errorf("reading the contexts of session %s: %w", s.Manifest.Session, err)
	}
	return sums, nil
}

// plus adds without going round: the numbers come from files.
func plus(a, b uint64) uint64 { return a + min(b, math.MaxUint64-a) }

func plusNs(a, b units.Ns) units.Ns { return a + min(max(0, b), math.MaxInt64-a) }

// warnContexts warns of contexts that were not recorded.
func (s *Session) warnContexts() {
	c := s.Manifest.Contexts
	if c == nil {
		return
	}
	if c.Lost > 0 {
		s.warn(fmt.Sprintf("%d of %d calling contexts were not recorded: there were too many different ones; take fewer with --contexts N", c.Lost, c.Taken))
	}
	if c.Unseen > 0 {
		s.warn(fmt.Sprintf("%d of %d calling contexts were not recorded: the JVM did not give the stack", c.Unseen, c.Taken))
	}
}
