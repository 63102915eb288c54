package units

import (
	"errors"
	"regexp"
	"strconv"
	"time"
)

var agePattern = regexp.MustCompile(`^([0-9]{1,5})([dwy])$`)

// ParseAge reads a length of time that may be in days, weeks and years of 365 days: 7d. Others are as time.ParseDuration has
// them. It is longer than nothing.
func ParseAge(s string) (time.Duration, error) {
	if m := agePattern.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1]) // digits
		if days := n * map[string]int{"d": 1, "w": 7, "y": 365}[m[2]]; days > 0 && days <= maxDays {
			return time.Duration(days) * 24 * time.Hour, nil
		}
		return 0, errAge
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, errAge
	}
	return d, nil
}

const maxDays = 100 * 365 // a time.Duration holds 292 years

var errAge = errors.New("want a length of time: 90m, 6h, 7d, 4w, 1y")
