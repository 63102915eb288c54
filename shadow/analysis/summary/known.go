package summary

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Doubt says how far the true figure may be from the one of a summary.
type Doubt struct {
	Why          string
	Below, Above float64 // the true figure is at least the one given less Below, at most it plus Above; Inf: no bound
}

// Unknown reports whether the figure says nothing.
func (d Doubt) Unknown() bool { return math.IsInf(d.Below, 1) && math.IsInf(d.Above, 1) }

// Unbounded reports whether the figure is a bound at most.
func (d Doubt) Unbounded() bool { return math.IsInf(d.Below, 1) || math.IsInf(d.Above, 1) }

// UnknownVirtual is why the number of threads that ran tasks is a minimum.
const UnknownVirtual = "summaries do not record which virtual thread ran a task"

// threwKey is in NotAvailable where the source does not say which executions threw.
const threwKey = "threw"

// unknownWith are the figures, or the objects of figures, that are not known if a key is in NotAvailable.
var unknownWith = map[string][]string{
	store.NoExecutions: {"tasks.executions", "tasks.summarised", "tasks.threads", "tasks.threw", "tasks.running", "tasks.cut", "tasks.nested", "tasks.virtual", "tasks.classes", "metrics"},
	store.NoCreations:  {"tasks.created", session.FigureNever, session.FigureFates, "tasks.failed", "tasks.creation_unseen"},
	store.NoPauses:     {"gc.pauses", "gc.pause_ns", "gc.median_ns", "gc.p99_ns", "gc.max_ns", "gc.share", "gc.profiler_ns"},
	threwKey:           {"tasks.threw"},
}

// Doubts are the figures that are not known, or are bounds, by their names in the JSON of shadow stats, as those of
// session.Incomplete. Whoever judges figures asks here: a figure that is not known may be 0, or of a part.
func (s *Summary) Doubts() map[string]Doubt {
	out, inf := map[string]Doubt{}, math.Inf(1)
	add := func(name, why string, below, above float64) {
		d := out[name]
		out[name] = Doubt{text.OneLine(cmp.Or(d.Why, why)), max(d.Below, below), max(d.Above, above)}
	}
	for key, names := range unknownWith {
		if why := s.NotAvailable[key]; why != "" {
			for _, name := range names {
				add(name, why, inf, inf)
			}
		}
	}
	if why := s.NotAvailable[store.NoLostCount]; why != "" {
		for name, n := range map[string]uint64{"lost.events": s.Lost.Events, "lost.batches": s.Lost.Batches, "lost.switches": s.Lost.Switches} {
			if n == 0 {
				add(name, why, inf, inf)
			} else {
				add(name, why, 0, inf)
			}
		}
	}
	if b := s.Balance; b != nil && b.State == store.BalanceUnknown {
		for _, name := range []string{"sum", "unexplained", "differing"} {
			add("balance."+name, cmp.Or(b.Why, "the account is not known"), inf, inf)
		}
	}
	if why := s.NotAvailable[advice.CreationsUnseen]; why != "" {
		add("tasks.created", why, 0, inf)
		add(session.FigureNever, why, 0, inf)
	}
	if s.Tasks.ThreadsLow {
		add("tasks.threads", UnknownVirtual, 0, inf)
	}
	if x := s.Incomplete; x != nil {
		for _, name := range x.NotKnown {
			add(name, x.Text(), inf, inf)
		}
		for _, name := range x.AtMost {
			add(name, x.Text(), inf, 0)
		}
		for _, name := range x.AtLeast {
			add(name, x.Text(), 0, inf)
		}
		if x.Flat() && s.Filter != nil {
			for _, name := range selfSums {
				add(name, x.Text(), inf, inf)
			}
		}
	}
	if n := float64(s.Lost.Events); n > 0 {
		for _, name := range []string{"tasks.created", "tasks.executions", "tasks.threads", "tasks.threw", "tasks.failed"} {
			add(name, s.LossText(), 0, n)
		}
		add(session.FigureNever, s.LossText(), n, n) // executions, or creations
	}
	return out
}

// selfSums are sums that are too high for some executions of a session that lacks those nested in them.
var selfSums = []string{"metrics.self_wall_ns.sum", "metrics.self_cpu_ns.sum"}

// RowDoubts are the Doubts about the rows of a listing, by their names in the JSON of shadow hotspots.
func (s *Summary) RowDoubts() map[string]Doubt {
	out := map[string]Doubt{}
	for name, d := range s.Doubts() {
		out[strings.TrimPrefix(name, "tasks.")] = d
	}
	if x := s.Incomplete; x.Partial() {
		why, inf := text.OneLine(x.Text()), math.Inf(1)
		out["work_share"], out["execution_share"] = Doubt{why, inf, inf}, Doubt{why, inf, inf}
		out["work_ns"], out["handed_over"] = Doubt{why, 0, inf}, Doubt{why, 0, inf}
		for _, name := range append([]string{"work_ns"}, selfSums...) {
			if x.Flat() {
				out[name] = Doubt{why, inf, inf}
			}
		}
	}
	return out
}

// LossText says what was lost of a session one by one; "": nothing.
func (s *Summary) LossText() string {
	if s.Lost.Events == 0 {
		return ""
	}
	return text.PluralExact(int64(s.Lost.Events), "event was", "events were") + " lost"
}

// Gaps are sentences, without their end, about what is missing in the session: whoever prints figures of it says so.
func (s *Summary) Gaps() []string {
	var out []string
	if s.Incomplete != nil {
		out = append(out, fmt.Sprintf("session %s is incomplete: %s", s.Session, s.Incomplete.Text()))
	}
	if why := s.LossText(); why != "" {
		out = append(out, fmt.Sprintf("in session %s %s: counts and sums are too low by as much", s.Session, why))
	}
	return out
}

// JSONSchemaAlias has what MarshalJSON writes: the fields as they are.
func (Summary) JSONSchemaAlias() any { return Summary{} }

// MarshalJSON writes null for the figures that are not known.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	unknown := map[string]bool{}
	for name, d := range s.Doubts() {
		if d.Unknown() {
			unknown[name] = true
		}
	}
	if unknown["metrics"] {
		s.Metrics = granularity.Metrics{} // none was measured
	}
	p := plain(s)
	if len(unknown) == 0 {
		return marshal(&p)
	}
	return nulled(reflect.ValueOf(p), "", unknown)
}

// marshal leaves < and > to the encoder that asked, which knows whether the text goes into a page.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// nullTag marks the fields that are null where they are not known; the schema says so.
const nullTag = "null"

// nulled is the JSON of a struct with null in its marked fields that are not known.
func nulled(v reflect.Value, prefix string, unknown map[string]bool) ([]byte, error) {
	var out bytes.Buffer
	for i := range v.NumField() {
		f, x := v.Type().Field(i), v.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "-" || strings.Contains(options, "omitempty") && (x.IsZero() || x.Kind() == reflect.Map && x.Len() == 0 || x.Kind() == reflect.Slice && x.Len() == 0) {
			continue
		}
		data, err := []byte("null"), error(nil)
		switch {
		case f.Tag.Get(nullTag) != "" && unknown[prefix+name]:
		case prefix == "" && x.Kind() == reflect.Struct:
			data, err = nulled(x, name+".", unknown)
		default:
			data, err = marshal(x.Interface())
		}
		if err != nil {
			return nil, fmt.Errorf("%s%s: %w", prefix, name, err)
		}
		fmt.Fprintf(&out, ",%q:%s", name, data)
	}
	if out.Len() == 0 {
		return []byte("{}"), nil
	}
	out.Bytes()[0] = '{'
	out.WriteByte('}')
	return out.Bytes(), nil
}
