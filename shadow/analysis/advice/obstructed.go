package advice

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
)

// Obstructed is what a part of the response times of a class depends on and that could be otherwise, by the account of time.
type Obstructed struct{ account.Obstacle }

// OfAccount are the obstacles of an account of time as findings, each named after its kind. Shares are of duration.
func OfAccount(a *account.Session, duration units.Ns) (list []Finding) {
	for i := range a.Obstacles {
		o := &a.Obstacles[i]
		x := Finding{Rule: string(o.Kind), Kind: Advice, Class: o.Victim, Evidence: &Obstructed{*o}, Worth: units.Ns(o.Score * float64(duration))}
		switch {
		case o.Gain != nil:
			x.Predicted = &Predicted{}
			x.predicted(max(0, units.Ns(o.Gain.SavedShare*float64(duration))), duration)
		case o.CannotTell != "":
			x.Predicted = &Predicted{Why: o.CannotTell}
		}
		x.Describe()
		list = append(list, x)
	}
	return list
}

// Obstructs reports whether findings have an obstacle of the account.
func Obstructs(list []Finding) bool {
	return slices.ContainsFunc(list, func(x Finding) bool { _, ok := x.Evidence.(*Obstructed); return ok })
}

// obstacles are those of the session. Rules of their own look at the collector.
func obstacles(s *search) []Finding {
	if s.account == nil {
		return nil
	}
	return slices.DeleteFunc(OfAccount(s.account, s.Duration), func(x Finding) bool { return x.Rule == string(account.Collection) })
}

// says reports whether an obstacle of a kind is about a class, or about an executor.
func (s *search) says(kind account.Kind, class, executor string) bool {
	return s.account != nil && slices.ContainsFunc(s.account.Obstacles, func(o account.Obstacle) bool {
		return o.Kind == kind && (o.Victim == class || o.Executor == executor && executor != "")
	})
}

func (e *Obstructed) title(*Finding) string    { return e.Title }
func (e *Obstructed) sentence(*Finding) string { return e.Title + ". " + e.Happened }
func (e *Obstructed) happened() string         { return e.Happened }
func (e *Obstructed) remedy() string           { return e.Remedy }

// PoolLabel is the label of the executor that it is about; "": it is about none.
func (e *Obstructed) PoolLabel() string { return e.Executor }

// Bound is what most of the time depends on, whether that could be otherwise or not.
type Bound struct{ account.Bound }

func bound(s *search) *Finding {
	if s.account == nil || s.account.Bound.Class == "" {
		return nil
	}
	return &Finding{Class: s.account.Bound.Class, Evidence: &Bound{s.account.Bound}}
}

func (e *Bound) sentence(*Finding) string { return e.Text() }

// NoAccount is why nothing says what the time depends on, or of which part of the session that is known.
type NoAccount struct {
	Why  string        `json:"why,omitempty"`
	Part *account.Span `json:"part,omitempty"`
}

func noAccount(s *search) *Finding {
	switch {
	case s.noAccount != nil:
		return &Finding{Evidence: &NoAccount{Why: strings.TrimSuffix(s.noAccount.Error(), ".")}}
	case s.account != nil && s.account.Part != nil:
		return &Finding{Evidence: &NoAccount{Part: s.account.Part}}
	}
	return nil
}

func (e *NoAccount) sentence(*Finding) string {
	if e.Part != nil {
		return fmt.Sprintf("What the time depends on was looked at from %s to %s only: there are too many executions for more.", units.FormatNs(e.Part.FromNs), units.FormatNs(e.Part.ToNs))
	}
	return "What the time depends on is not known: " + e.Why + "."
}
