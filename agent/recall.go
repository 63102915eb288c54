package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"
	"sync"
	"time"

	"stackagent/agent/instrument"
	"stackagent/agent/options"
	"stackagent/agent/plans"
	"stackagent/internal/units"
	"stackagent/jvmti"
)

const (
	plansQuiet = 2 * time.Second // without a new plan, before the plans are saved
	plansExit  = time.Second     // for saving them at exit
)

// recaller knows from earlier runs how classes are woven. A nil recaller knows nothing.
type recaller struct {
	store   *plans.Store
	differs sync.Pool // of *plans.Differ

	// Of the goroutine that drains.
	unsaved int       // at the last look
	since   time.Time // unsaved is so since
}

// newRecaller returns nil where plans are not kept: if the user said so, if every class is woven for its bytecodes,
// and if the folder cannot be used.
func newRecaller(o *options.Options, text string, counts bool) *recaller {
	build := jvmti.BuildID()
	if o.Plans == options.PlansOff || counts || len(build) == 0 {
		return nil
	}
	folder := o.Plans
	if folder == "" {
		folder = plans.DefaultFolder()
	}
	version := sha256.Sum256(fmt.Appendf(nil, "%x %s", build, options.ForPlan(text)))
	store, err := plans.Open(folder, plans.Version(version[:]))
	if err != nil {
		if o.Plans != "" {
			jvmti.Say(err.Error() + "; no plans are kept")
		}
		return nil
	}
	return &recaller{store: store}
}

// key names everything that a plan depends on; false: the class is not kept. A hidden class has another name in
// each run.
func (c *recaller) key(in *instrument.Input, r *jvmti.ClassRequest) (plans.Key, bool) {
	if c == nil || r.Hidden || len(r.Supertypes) >= jvmti.MaxSupertypes {
		return plans.Key{}, false
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d %v %v %v %v %q\n", in.Mode, in.Platform, in.Loaded, in.BareSuper, in.Dispatcher, in.Fields)
	for i := range r.Supertypes {
		name := r.Supertypes[i].Name
		kinds, known := in.Supers.Kinds(name)
		writeText(h, name)
		_ = binary.Write(h, binary.LittleEndian, uint32(kinds))
		_ = binary.Write(h, binary.LittleEndian, known)
	}
	h.Write(in.Class)
	return plans.Key(h.Sum(nil)), true
}

func writeText(h hash.Hash, s string) {
	_ = binary.Write(h, binary.LittleEndian, uint32(len(s)))
	h.Write([]byte(s))
}

// recall returns what an earlier run made of the class; false: it made nothing that fits.
func (c *recaller) recall(key plans.Key, class []byte, sites *classSites, name string) (woven, bool) {
	content := c.store.Get(key)
	if content == nil {
		return woven{}, false
	}
	k, ok := parseKept(content)
	if !ok || (sites == nil && len(k.sites) > 0) {
		return woven{}, false
	}
	ids := make([]int32, len(k.sites))
	for i, s := range k.sites {
		s.Class = name
		if ids[i] = sites.Add(s); ids[i] == 0 || ids[i] > instrument.MostMarked {
			return woven{}, false
		}
	}
	bytes, err := plans.Apply(k.delta, class, k.size)
	if err != nil || !k.number(bytes, ids) {
		return woven{}, false
	}
	return woven{bytes: bytes, executed: k.executed, loopCall: k.loopCall}, true
}

// keep keeps a plan for later runs, if it depends on nothing but its key.
func (c *recaller) keep(key plans.Key, class []byte, w *woven) {
	p := w.plan
	if p == nil || w.bytes == nil || !w.whole || len(p.Left) > 0 || p.Kinds&units.KindCustom != 0 {
		return
	}
	k := kept{executed: p.Executed, loopCall: p.LoopCall, size: len(w.bytes)}
	places, ok := p.SiteNumbers()
	if !ok {
		return
	}
	var ids []int32
	if w.sites != nil {
		k.sites, ids = w.sites.list, w.sites.ids
	}
	plain := slices.Clone(w.bytes)
	for _, at := range places {
		id := int32(binary.BigEndian.Uint16(plain[at:]))
		k.places = append(k.places, place{at: at, site: slices.Index(ids, id)})
		plain[at], plain[at+1] = 0, 0
	}
	d, _ := c.differs.Get().(*plans.Differ)
	if d == nil {
		d = new(plans.Differ)
	}
	k.delta = d.Append(nil, class, plain)
	c.differs.Put(d)
	c.store.Put(key, k.append(nil))
}

// look saves the plans when no class has been woven for a while. It is called in each round of the drain: no timer
// runs for it.
func (c *recaller) look(now time.Time) {
	if c == nil {
		return
	}
	n, many := c.store.Unsaved()
	if n != c.unsaved {
		c.unsaved, c.since = n, now
	}
	if n > 0 && (many || now.Sub(c.since) >= plansQuiet) {
		c.since = now
		go c.save()
	}
}

// save does not report an error: the plans are computed again.
func (c *recaller) save() { _ = c.store.Save() }

// finish saves the rest, within bounds.
func (c *recaller) finish() {
	if c == nil {
		return
	}
	if n, _ := c.store.Unsaved(); n == 0 {
		return
	}
	saved := make(chan struct{})
	go func() {
		defer close(saved)
		c.save()
	}()
	select {
	case <-saved:
	case <-time.After(plansExit):
	}
}
