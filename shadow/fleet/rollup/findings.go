package rollup

import (
	"strings"
	"time"

	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// Metrics of the findings of whole sessions. Those of a rule and kind begin with the kind: "advice:held", "caution:lost".
const (
	Judged        = "judged" // Count: sessions whose findings are known
	advicePrefix  = string(advice.Advice) + ":"
	cautionPrefix = string(advice.Caution) + ":"
)

// FindingOf is the finding that rows of a metric stand for, with its sentences in the row's Site; not ok if there is none.
func FindingOf(r *Row) (f advice.Finding, ok bool) {
	kind, rule, _ := strings.Cut(r.Metric, ":")
	f = advice.Finding{Rule: rule, Kind: advice.FindingKind(kind), Class: r.Class, Executor: r.Executor}
	if !strings.HasPrefix(r.Metric, advicePrefix) && !strings.HasPrefix(r.Metric, cautionPrefix) {
		return f, false
	}
	f.Title, f.Remedy, _ = strings.Cut(r.Site, "\n")
	return f, true
}

// mostJudged bounds the recorded executions of a session of which findings are looked for: more take longer than all the rest.
const mostJudged = 2_000_000

// findings adds what was found in a whole session, each finding once, by the window in which the session ended. Nothing is added if it is too
// large or cannot be read whole.
func (b *builder) findings(s *session.Session) {
	m := &s.Manifest
	if m.Stored.Executions-m.Summarised.Executions > mostJudged {
		return
	}
	sum, err := summary.Build(s, summary.Options{Replayer: account.NewPredictor(s)})
	if err != nil {
		return
	}
	k := key{window: time.Unix(0, m.WallUnixNs+int64(m.DurationNs)).Truncate(Window).UnixNano(), metric: Judged}
	b.of(k).Count = 1
	seen := map[key]bool{}
	for i := range sum.Findings { // those that matter most first
		f := &sum.Findings[i]
		k.metric, k.class, k.executor, k.site = string(f.Kind)+":"+f.Rule, f.Class, f.Executor, ""
		if f.Kind != advice.Advice && f.Rule != lostRule || seen[k] {
			continue
		}
		seen[k] = true
		k.site = f.Title + "\n" + f.Remedy
		b.of(k).moments(1, int64(f.Worth), int64(f.Worth), int64(f.Worth))
	}
}

// lostRule is the caution that makes a service's other figures doubtful; the others are about single sessions.
const lostRule = "lost"
