package access

import (
	"slices"
	"strings"

	"stackagent/internal/label"
)

// User is who asks.
type User struct {
	Name   string
	Groups []string
}

// Rights are what somebody may see and change. The zero value is nothing.
type Rights struct {
	Who        string // for the log of changes
	see, admin []string
}

// Everything are the rights of who knows the page's password, or where there is no policy.
func Everything(who string) Rights {
	return Rights{Who: who, see: []string{"*"}, admin: []string{"*"}}
}

// Of gives the rights of a user: those of all rules together.
func (p *Policy) Of(u User) Rights {
	r := Rights{Who: u.Name}
	for i := range p.Rules {
		rule := &p.Rules[i]
		if !rule.covers(u) {
			continue
		}
		r.see = append(r.see, rule.Services...)
		if rule.Role == Admin {
			r.admin = append(r.admin, rule.Services...)
		}
	}
	for _, list := range []*[]string{&r.see, &r.admin} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return r
}

func (r *Rule) covers(u User) bool {
	return u.Name != "" && slices.Contains(r.Users, u.Name) || slices.ContainsFunc(u.Groups, func(g string) bool { return slices.Contains(r.Groups, g) })
}

// Sees reports whether sessions of a service may be seen; "": those without one.
func (r *Rights) Sees(service string) bool { return matches(r.see, service) }

// Changes reports whether they may be deleted and labelled.
func (r *Rights) Changes(service string) bool { return matches(r.admin, service) }

// All reports whether sessions of every service may be seen.
func (r *Rights) All() bool { return slices.Contains(r.see, "*") }

// Scope tells apart those who see different services.
func (r *Rights) Scope() string { return strings.Join(r.see, "\n") }

// None reports whether nothing may be seen.
func (r *Rights) None() bool { return len(r.see) == 0 }

// Role is the highest role for any service.
func (r *Rights) Role() string {
	if len(r.admin) > 0 {
		return Admin
	}
	return Viewer
}

// Key is the same for rights to see the same services.
func (r *Rights) Key() string { return strings.Join(r.see, "\x00") }

func matches(globs []string, service string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return label.Glob(g, service) })
}
