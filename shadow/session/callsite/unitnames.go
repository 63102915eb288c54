package callsite

import (
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// UnitName is what listings call a unit of work.
type UnitName struct {
	Name  string // of its class, or the program's name of a task of the JDK or of a lambda
	From  string // the class that Name replaces; "": none
	Kinds units.Kinds
}

// Describe names the class, or the name of n, with that id; n may be nil.
func Describe(s *session.Session, n *Names, id uint32) UnitName {
	if n != nil && int64(^uint32(0)-id) < int64(len(n.classes)) {
		c := &n.classes[^uint32(0)-id]
		return UnitName{c.Name, n.from[c.Name], c.Kinds}
	}
	if c := s.ClassByID(id); c != nil {
		return UnitName{Name: c.Name, Kinds: c.Kinds}
	}
	return UnitName{Name: unit.UnknownClass(id)}
}

// UnitNames returns a function that names the units of work of a session, as all listings do.
func UnitNames(s *session.Session) (func(*unit.Unit) UnitName, error) {
	if !MayName(s) {
		return func(u *unit.Unit) UnitName { return Describe(s, nil, u.Class) }, nil
	}
	x, err := Of(s)
	if err != nil {
		return nil, err
	}
	n := NewNames(x)
	return func(u *unit.Unit) UnitName { return Describe(s, n, n.OfUnit(u)) }, nil
}
