package iteration

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackagent/granularity/warmup"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Choice chooses iterations; the zero value all of them.
type Choice struct {
	These []int // these, from 1, ascending
	Last  int   // the last ones
	Warm  bool  // those after the warm-up
}

// ErrChoice is a choice in no form that ParseChoice knows.
var ErrChoice = errors.New("use numbers from 1, as 3 or 1,9,11; last, last:N or warm")

// maxThese bounds how many iterations can be named one by one.
const maxThese = 1000

// ParseChoice reads "3", "1,9,11", "last", "last:3" or "warm".
func ParseChoice(word string) (Choice, error) {
	switch word {
	case "last":
		return Choice{Last: 1}, nil
	case "warm":
		return Choice{Warm: true}, nil
	}
	numbers, last := strings.CutPrefix(word, "last:")
	var c Choice
	for _, number := range strings.SplitN(numbers, ",", maxThese+1) {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return Choice{}, ErrChoice
		}
		c.These = append(c.These, n)
	}
	slices.Sort(c.These)
	c.These = slices.Compact(c.These)
	if !last {
		return c, nil
	}
	if len(c.These) > 1 {
		return Choice{}, ErrChoice
	}
	return Choice{Last: c.These[0]}, nil
}

// String is how the choice was asked for.
func (c Choice) String() string {
	switch {
	case len(c.These) > 0:
		return strings.ReplaceAll(strings.Trim(fmt.Sprint(c.These), "[]"), " ", ",")
	case c.Last > 0:
		return "last:" + strconv.Itoa(c.Last)
	case c.Warm:
		return "warm"
	}
	return "all"
}

// Choose gives the chosen iterations.
func (s *Set) Choose(c Choice) ([]Iteration, error) {
	n := len(s.All)
	if s.Dropped > 0 && (c.Last > 0 || c.Warm) {
		return nil, fmt.Errorf("iteration %s: %s after number %d dropped, so the last ones are not known", c, text.PluralExact(s.Dropped, "marker", "markers"), n)
	}
	most := c.Last
	if len(c.These) > 0 {
		most = c.These[len(c.These)-1]
	}
	switch {
	case most > n:
		return nil, fmt.Errorf("iteration %s: it has %s (%s)", c, text.PluralExact(n, "iteration", "iterations"), s.Source)
	case len(c.These) > 0:
		var out []Iteration
		for _, i := range c.These {
			out = append(out, s.All[i-1])
		}
		return out, nil
	case c.Last > 0:
		return s.All[n-c.Last:], nil
	case c.Warm:
		warm := warmup.WarmFrom(s.Times(), warmup.Within)
		if warm < 0 {
			return nil, fmt.Errorf("iteration warm: it never got warm: the last of %s took over %s longer than the fastest; use last:N",
				text.PluralExact(n, "iteration", "iterations"), units.FormatPercent(warmup.Within))
		}
		return s.All[warm:], nil
	}
	return s.All, nil
}

// Times are the wall times of the iterations.
func (s *Set) Times() []float64 {
	times := make([]float64, len(s.All))
	for i, it := range s.All {
		times[i] = float64(it.To - it.From)
	}
	return times
}
