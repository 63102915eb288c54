package advice

import (
	"strings"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// FatesText lists what became of tasks that were never executed; "" if it is not known.
func FatesText(f *granularity.Fates) string {
	if f == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{f.NeverSubmitted, "never submitted"}, {f.NeverRun, "submitted and never run"}, {f.Cancelled, "cancelled"},
		{f.Rejected, "rejected"}, {f.NotKnown, "unknown"}} {
		if p.n > 0 {
			parts = append(parts, units.FormatExact(p.n)+" "+p.what)
		}
	}
	return strings.Join(parts, ", ")
}
