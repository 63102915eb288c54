package units

import (
	"math"
	"strconv"
	"strings"
)

// scale is a unit and how many base units it holds.
type scale struct {
	factor float64
	unit   string
}

var (
	timeScales  = []scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}
	countScales = []scale{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}
	byteScales  = []scale{{1, "B"}, {1 << 10, "KiB"}, {1 << 20, "MiB"}, {1 << 30, "GiB"}, {1 << 40, "TiB"}}
)

// FormatNs prints a span of time with three significant digits and the unit
// that keeps the figure below 1000, or seconds: "812 ns", "23.4 ms", "17,440 s".
// A value that was not measured is "n/a".
func FormatNs(n Ns) string {
	if !n.Measured() {
		return "n/a"
	}
	return formatScaled(float64(n), timeScales, 1000)
}

// FormatCount prints a count: exactly up to 99,999 (with commas from 1,000
// on), then with three significant digits: "8,192", "1.25 M".
func FormatCount(n int64) string {
	if n > -100_000 && n < 100_000 {
		return FormatExact(n)
	}
	return formatScaled(float64(n), countScales, 1000)
}

// FormatExact prints every digit of a count, with commas: "12,345,678".
func FormatExact(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "-", s[1:]
	}
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return sign + b.String()
}

// FormatBytes prints a size in binary units: "512 B", "1.50 MiB".
func FormatBytes(n int64) string { return formatScaled(float64(n), byteScales, 1024) }

// FormatPercent prints a share (0 to 1) as a percentage. A share that is not
// zero never prints as zero, and one that is not whole never as 100 %.
func FormatPercent(share float64) string {
	switch p := share * 100; {
	case math.IsNaN(p):
		return "n/a"
	case p == 0:
		return "0 %"
	case p > 0 && p < 0.1:
		return "<0.1 %"
	case p > 99.9 && p < 100:
		return ">99.9 %"
	case math.Abs(p) < 9.95:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(p, 'f', digitsOfPercent(p), 64) + " %"
	}
}

// digitsOfPercent keeps a decimal where rounding would turn 99.6 into 100.
func digitsOfPercent(p float64) int {
	if p >= 99.5 && p < 100 {
		return 1
	}
	return 0
}

// formatScaled prints v in the greatest unit of scales that is not above it.
// Units of the base size (ns, B) have no decimals: they are counted.
func formatScaled(v float64, scales []scale, base float64) string {
	abs := math.Abs(v)
	i := 0
	for i+1 < len(scales) && abs >= scales[i+1].factor {
		i++
	}
	text := threeDigits(v/scales[i].factor, i == 0)
	// 999.6 rounds up to the next unit: 1.00 ms, not 1000 µs.
	if i > 0 && i+1 < len(scales) && math.Abs(v/scales[i].factor) >= base-0.5 {
		i++
		text = threeDigits(v/scales[i].factor, false)
	}
	if scales[i].unit == "" {
		return text
	}
	return text + " " + scales[i].unit
}

func threeDigits(v float64, whole bool) string {
	abs := math.Abs(v)
	switch {
	case whole || abs >= 99.95:
		return FormatExact(int64(math.RoundToEven(v)))
	case abs >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// FormatChange prints a relative change with its sign, 0.1 as "+10 %"; from ten times on as a factor, which is easier to read:
// "x 12". A change that is not known is "".
func FormatChange(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0):
		return ""
	case share >= 9.5:
		return "x " + strconv.FormatFloat(1+share, 'f', 0, 64)
	case share == 0:
		return "0 %"
	}
	sign, turned := "+", map[byte]string{'<': "<", '>': ">"}
	if share < 0 {
		sign, turned = "-", map[byte]string{'<': ">", '>': "<"}
	}
	p := FormatPercent(math.Abs(share))
	if c, bound := turned[p[0]]; bound { // "<0.1 %"
		return c + sign + p[1:]
	}
	return sign + p
}

// FormatIn prints a value, which may be a mean, in a unit: "ns", "bytes" or "" for a number. One that is not known is "".
func FormatIn(unit string, v float64) string {
	switch whole := v == math.Trunc(v); {
	case math.IsNaN(v):
		return ""
	case math.Abs(v) > math.MaxInt64/2:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case unit == "ns":
		return FormatNs(Ns(math.Round(v)))
	case unit == "bytes":
		return FormatBytes(int64(math.Round(v)))
	case whole:
		return FormatExact(int64(v))
	case math.Abs(v) >= 100:
		return FormatExact(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
