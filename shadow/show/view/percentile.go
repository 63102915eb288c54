package view

import (
	"fmt"
	"strconv"

	"stackagent/granularity/latency"
	"stackagent/internal/units"
)

// PercentileName is "50", "99.99".
func PercentileName(p latency.Percentile) string {
	return strconv.FormatFloat(float64(p)/1000, 'f', -1, 64)
}

// Marked marks a figure that rests on summaries.
func Marked(n units.Ns, relativeError float64) string {
	text := units.FormatNs(n)
	if relativeError > 0 {
		return "~" + text
	}
	return text
}

// ErrorText is a relative error in words.
func ErrorText(relativeError float64) string { return fmt.Sprintf("±%.1f %%", 100*relativeError) }
