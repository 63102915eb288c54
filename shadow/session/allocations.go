package session

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackagent/shadow/store"
)

// Allocation is what the sampled objects of one place stand for.
type Allocation struct {
	Class       uint32 // ClassByID of the execution that they are allocated in; 0: none
	Site        *Site  // the program's nearest frame; nil: none, or not known
	ThreadLocal bool   // they are, or belong to, the initial value of a thread local
	Samples     int64
	Bytes       int64 // an estimate
}

// Allocations are estimates of what was allocated where, by a sample of about one object in 2 MB (JEP 331): n samples have a relative
// standard error of 1/sqrt(n). Sessions of older agents, and those with allocations=false, do not have them.
func (s *Session) Allocations() ([]Allocation, error) {
	type place struct {
		class  uint32
		site   Site
		locals bool
	}
	found := map[place]*Allocation{}
	err := s.eachSum("allocations", func(r *store.Context, frames []*Site, sum *contextSum) {
		x := Allocation{Class: r.Class}
		for _, f := range frames {
			switch {
			case f == nil:
			case x.Site == nil && !isOfJDK(f.Class):
				x.Site = f
			case f.Class == "java.lang.ThreadLocal" && f.Method == "setInitialValue":
				x.ThreadLocal = true
			}
		}
		k := place{class: x.Class, locals: x.ThreadLocal}
		if x.Site != nil {
			k.site = Site{Class: x.Site.Class, Method: x.Site.Method, File: x.Site.File, Line: x.Site.Line}
		}
		if found[k] == nil {
			found[k] = &x
		}
		found[k].Samples = int64(plus(uint64(found[k].Samples), sum.count))
		found[k].Bytes = int64(plus(uint64(found[k].Bytes), sum.bytes))
	}, store.ContextAllocation)
	if err != nil {
		return nil, err
	}
	list := make([]Allocation, 0, len(found))
	for _, x := range found {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(x, y Allocation) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Class, y.Class), cmp.Compare(siteText(x.Site), siteText(y.Site)))
	})
	return list, nil
}

func siteText(x *Site) string {
	if x == nil {
		return ""
	}
	return fmt.Sprint(x.Class, x.Method, x.Line)
}

// isOfJDK reports whether a frame's class is the JDK's, by its package.
func isOfJDK(class string) bool {
	for _, p := range []string{"java.", "javax.", "jdk.", "sun.", "com.sun."} {
		if strings.HasPrefix(class, p) {
			return true
		}
	}
	return false
}
