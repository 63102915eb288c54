package budget

import (
	"strconv"
	"strings"
	"unicode"

	"stackagent/internal/expression"
	"stackagent/internal/text"
)

// quantity is a number with a unit, which the parser does not know. It stands in the parser's input as $ and a character,
// so that columns of errors stay right.
type quantity struct {
	value float64
	unit  string // "ns", "bytes"; "": percent
	text  string
}

var unitWords = map[string]struct {
	unit   string
	factor float64
}{
	"%": {"", 0.01}, "ns": {"ns", 1}, "us": {"ns", 1e3}, "µs": {"ns", 1e3}, "ms": {"ns", 1e6}, "s": {"ns", 1e9}, "min": {"ns", 60e9},
	"B": {"bytes", 1}, "kB": {"bytes", 1e3}, "MB": {"bytes", 1e6}, "GB": {"bytes", 1e9},
	"KiB": {"bytes", 1 << 10}, "MiB": {"bytes", 1 << 20}, "GiB": {"bytes", 1 << 30},
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }
func isWord(r rune) bool  { return r == '_' || unicode.IsLetter(r) || isDigit(r) }

// scan puts $ and a character in place of each quantity.
func scan(source string) (string, []quantity, error) {
	in, out, found := []rune(source), []rune{}, []quantity{}
	for i := 0; i < len(in); {
		end := i + 1
		switch r := in[i]; {
		case r == '$' || r == '#' || r == '\\':
			return "", nil, expression.Errorf(i, "unexpected %q", r)
		case r == '"' || r == '\'' || r == '`':
			for end < len(in) && in[end] != r {
				if in[end] == '\\' && r != '`' {
					end++ // an escaped quote does not end it
				}
				end++
			}
			if end >= len(in) {
				return "", nil, expression.Errorf(i, "the quote that begins here has no end")
			}
			end++
		case r == '_' || unicode.IsLetter(r):
			for end < len(in) && isWord(in[end]) {
				end++
			}
		case isDigit(r):
			q, to, err := number(in, i)
			if err != nil {
				return "", nil, err
			}
			end = to
			if q == nil {
				break
			}
			if len(found) == len(expression.Marks) {
				return "", nil, expression.Errorf(i, "more than %d quantities in one expression", len(expression.Marks))
			}
			out = append(out, '$', rune(expression.Marks[len(found)]))
			for range end - i - 2 {
				out = append(out, ' ')
			}
			found, i = append(found, *q), end
			continue
		}
		out, i = append(out, in[i:end]...), end
	}
	return string(out), found, nil
}

// number reads a number and its unit; nil: it has none.
func number(in []rune, from int) (*quantity, int, error) {
	end := from
	for end < len(in) && (isDigit(in[end]) || in[end] == '.' || in[end] == '_') {
		end++
	}
	if end < len(in) && (in[end] == 'e' || in[end] == 'E') { // an exponent, not a unit
		at := end + 1
		if at < len(in) && (in[at] == '-' || in[at] == '+') {
			at++
		}
		if at < len(in) && isDigit(in[at]) {
			for end = at; end < len(in) && isDigit(in[end]); {
				end++
			}
		}
	}
	to := end
	for to < len(in) && isWord(in[to]) {
		to++
	}
	if to == end && to < len(in) && in[to] == '%' {
		if to++; to < len(in) && (isWord(in[to]) || in[to] == '(') {
			return nil, 0, expression.Errorf(end, "%% is percent, not an operator")
		}
	}
	unit := string(in[end:to])
	if unit == "" {
		return nil, end, nil
	}
	w, known := unitWords[unit]
	if !known {
		return nil, 0, expression.Errorf(end, "unknown unit %s: use ns, us, ms, s, min, B, kB, MB, GB, KiB, MiB, GiB or %%", text.OneLine(text.Cut(unit, 20)))
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(string(in[from:end]), "_", ""), 64)
	if err != nil {
		return nil, 0, expression.Errorf(from, "%s is no number", text.Cut(string(in[from:end]), 40))
	}
	return &quantity{v * w.factor, w.unit, string(in[from:to])}, to, nil
}
