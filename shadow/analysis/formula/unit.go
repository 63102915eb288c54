package formula

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/text"
)

// unit is a product of powers. Time has the key "ns"; a value with a positive power of it is in nanoseconds, with a negative
// one per second, so that bytes divided by nanoseconds are bytes per second.
type unit map[string]int

const timeKey = "ns"

// words maps spellings of units to the kept one and the factor to it.
var words = map[string]struct {
	key    string
	factor float64
}{
	"": {"", 1}, "1": {"", 1}, "count": {"", 1}, "ratio": {"", 1}, "%": {"", 0.01},
	"ns": {timeKey, 1}, "us": {timeKey, 1e3}, "µs": {timeKey, 1e3}, "ms": {timeKey, 1e6}, "s": {timeKey, 1e9}, "min": {timeKey, 60e9},
	"bytes": {"bytes", 1}, "byte": {"bytes", 1}, "B": {"bytes", 1},
	"kB": {"bytes", 1e3}, "KB": {"bytes", 1e3}, "MB": {"bytes", 1e6}, "GB": {"bytes", 1e9},
	"KiB": {"bytes", 1 << 10}, "MiB": {"bytes", 1 << 20}, "GiB": {"bytes", 1 << 30},
	"task": {"tasks", 1}, "tasks": {"tasks", 1},
}

// parseUnit reads the unit of a monitor, "bytes/s"; values times factor are in u.
func parseUnit(s string) (u unit, factor float64) {
	u, factor = unit{}, 1
	for i, part := range strings.Split(text.Cut(s, 60), "/") {
		power := 1
		if i > 0 {
			power = -1
		}
		part = strings.TrimSpace(part)
		w, known := words[part]
		switch {
		case !known:
			w.key, w.factor = text.OneLine(part), 1
		case w.key == timeKey && power < 0:
			w.factor /= 1e9 // per second is kept as it is
		}
		factor *= math.Pow(w.factor, float64(power))
		if w.key != "" {
			u[w.key] += power
		}
	}
	return u.clean(), factor
}

func (u unit) clean() unit {
	maps.DeleteFunc(u, func(_ string, power int) bool { return power == 0 })
	return u
}

// timeScale is a value's time in units of seconds, for a power of time.
func timeScale(power int) float64 {
	if power > 0 {
		return math.Pow(1e-9, float64(power))
	}
	return 1
}

// times is the product of u and v (v to the power of sign), and the factor for the product of the values.
func (u unit) times(v unit, sign int) (unit, float64) {
	out := maps.Clone(u)
	for key, power := range v {
		out[key] += sign * power
	}
	a, b := u[timeKey], v[timeKey]
	factor := timeScale(a) / timeScale(out[timeKey])
	if sign > 0 {
		factor *= timeScale(b)
	} else {
		factor /= timeScale(b)
	}
	return out.clean(), factor
}

func (u unit) equal(v unit) bool { return maps.Equal(u, v) }

// String is "bytes/s"; a plain number is "".
func (u unit) String() string {
	var over, under []string
	for _, key := range slices.Sorted(maps.Keys(u)) {
		power, name := u[key], key
		if key == timeKey && power < 0 {
			name = "s"
		}
		if abs := max(power, -power); abs > 1 {
			name += "^" + strconv.Itoa(abs)
		}
		if power > 0 {
			over = append(over, name)
		} else {
			under = append(under, name)
		}
	}
	if len(under) == 0 {
		return strings.Join(over, "*")
	}
	if len(over) == 0 {
		over = []string{"1"}
	}
	return strings.Join(over, "*") + "/" + strings.Join(under, "/")
}

// named is the unit in a sentence.
func (u unit) named() string {
	if len(u) == 0 {
		return "a plain number"
	}
	return "in " + u.String()
}
