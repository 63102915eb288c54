package callsite

import (
	"strings"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// lambdaMark separates the host of a lambda from the method that it stands for, in the name
// of its class: com.acme.Main$$Lambda -> com.acme.Main.lambda$run$0.
const lambdaMark = "$$Lambda -> "

// isLambda reports whether a class is that of a lambda or method reference of the program.
func isLambda(c *session.Class) bool {
	host, target, ok := strings.Cut(c.Name, lambdaMark)
	return ok && host != "" && target != "" && !unit.IsJDK(c.Name, c.Kinds) && c.Kinds&units.KindThread == 0
}

// TitleOf names the tasks of a lambda's class as reports do, by a place in its host that makes them; site nil: none is
// known. "": the class is none of a lambda, or says as much.
func TitleOf(c *session.Class, site *session.Site) string {
	if !isLambda(c) {
		return ""
	}
	host, target, _ := strings.Cut(c.Name, lambdaMark)
	if site != nil && site.Class != host {
		site = nil
	}
	return lambdaTitle(host, target, site)
}

// addLambdas names the tasks of the classes of lambdas.
func (n *Names) addLambdas() {
	made := n.lambdaSites()
	for i := range n.x.s.Classes {
		c := &n.x.s.Classes[i]
		if !isLambda(c) {
			continue
		}
		host, target, _ := strings.Cut(c.Name, lambdaMark)
		title := lambdaTitle(host, target, made[c.ID].site)
		if title == "" {
			continue
		}
		if id := n.add(c, title); id != c.ID {
			n.name(c.ID, title, id)
			n.lambdas[c.ID], n.summary[c.ID], n.whole[c.ID] = id, id, true
		}
	}
}

// lambdaSite is where so many tasks of a class were made.
type lambdaSite struct {
	site    *session.Site
	created bool
	count   uint64
}

// lambdaSites are the places of the classes of lambdas in the code of their hosts: where most
// of their tasks are created or, if that was not seen, submitted.
func (n *Names) lambdaSites() map[uint32]lambdaSite {
	hosts := map[uint32]string{}
	for i := range n.x.s.Classes {
		if c := &n.x.s.Classes[i]; isLambda(c) {
			hosts[c.ID], _, _ = strings.Cut(c.Name, lambdaMark)
		}
	}
	made := map[uint32]lambdaSite{}
	for e, count := range n.x.classes.counts {
		s := n.x.s.SiteByID(e.Site)
		if s == nil || hosts[e.Class] != s.Class || e.Kind != wire.SiteCreation && e.Kind != wire.SiteSubmission {
			continue
		}
		if at := (lambdaSite{s, e.Kind == wire.SiteCreation, count}); at.before(made[e.Class]) {
			made[e.Class] = at
		}
	}
	return made
}

func (a lambdaSite) before(b lambdaSite) bool {
	switch {
	case b.site == nil || a.created != b.created:
		return b.site == nil || a.created
	case a.count != b.count:
		return a.count > b.count
	}
	return a.site.ID < b.site.ID
}

// lambdaTitle is the program's method and the line of a lambda, com.acme.Main.lambda$run$0
// (Main.java:18); "": the class says as much. A reference to a method of the JDK has the
// method that contains it.
func lambdaTitle(host, target string, site *session.Site) string {
	var place string
	if site != nil {
		place = Place(site.File, site.Line)
	}
	own := strings.HasPrefix(target, host+".")
	switch {
	case site != nil && !own && unit.IsJDK(target, 0):
		short := target
		if i := strings.LastIndexByte(target, '.'); i > 0 {
			short = target[strings.LastIndexByte(target[:i], '.')+1:]
		}
		if place != "" {
			short += ", " + place
		}
		return site.Class + "." + site.Method + " (" + short + ")"
	case place != "":
		return target + " (" + place + ")"
	case own:
		return target
	}
	return ""
}
