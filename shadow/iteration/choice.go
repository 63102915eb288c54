package iteration

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stackagent/granularity/warmup"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// Choice chooses iterations; the zero value all of them.
type Choice struct {
	Index int  // this one, from 1
	Last  int  // the last ones
	Warm  bool // those after the warm-up
}

// ErrChoice is a choice in no form that ParseChoice knows.
var ErrChoice = errors.New("use a number from 1, last, last:N or warm")

// ParseChoice reads "3", "last", "last:3" or "warm".
func ParseChoice(word string) (Choice, error) {
	switch word {
	case "last":
		return Choice{Last: 1}, nil
	case "warm":
		return Choice{Warm: true}, nil
	}
	number, last := strings.CutPrefix(word, "last:")
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return Choice{}, ErrChoice
	}
	if last {
		return Choice{Last: n}, nil
	}
	return Choice{Index: n}, nil
}

// String is how the choice was asked for.
func (c Choice) String() string {
	switch {
	case c.Index > 0:
		return strconv.Itoa(c.Index)
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
	switch {
	case max(c.Index, c.Last) > n:
		return nil, fmt.Errorf("iteration %s: it has %s (%s)", c, text.PluralExact(n, "iteration", "iterations"), s.Source)
	case c.Index > 0:
		return s.All[c.Index-1 : c.Index], nil
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
