package formula

import (
	"path"
	"strconv"
	"strings"
	"unicode"

	"stackagent/internal/expression"
)

// A word is what the parser does not know: a monitor's name with dots, labels, or quotes, or a number with a unit. It is
// parsed here, and stands in the parser's input as $ and a character, so that columns of errors stay right.
type word struct {
	name   string // of a monitor; "": a quantity
	labels []label
	exact  bool // quoted: the name as declared

	value float64
	unit  unit
}

// label is a condition of a selector, as class~"Order*".
type label struct {
	key, value string
	glob, not  bool
}

func (l *label) matches(value string) bool {
	same := l.value == value
	if l.glob {
		same, _ = path.Match(l.value, value) // checked when parsed
	}
	return same != l.not
}

type scanner struct {
	in    []rune
	out   []rune
	at    int
	words []word
}

// scan puts words in place of what the parser does not know. Word i is $ and expression.Marks[i].
func scan(source string) (string, []word, error) {
	s := scanner{in: []rune(source)}
	for s.at < len(s.in) {
		if err := s.next(); err != nil {
			return "", nil, err
		}
	}
	return string(s.out), s.words, nil
}

func isNameStart(r rune) bool { return r == '_' || r < unicode.MaxASCII && unicode.IsLetter(r) }
func isDigit(r rune) bool     { return '0' <= r && r <= '9' }
func isNamePart(r rune) bool  { return isNameStart(r) || isDigit(r) || strings.ContainsRune(".#$", r) }

func (s *scanner) peek(i int) rune {
	if i < len(s.in) {
		return s.in[i]
	}
	return 0
}

func (s *scanner) while(from int, f func(rune) bool) int {
	for from < len(s.in) && f(s.in[from]) {
		from++
	}
	return from
}

func (s *scanner) next() error {
	r, from := s.in[s.at], s.at
	switch {
	case r == '"' || r == '\'' || r == '`':
		name, end, err := s.quoted(from)
		if err != nil {
			return err
		}
		return s.put(end, word{name: name, exact: true})
	case isNameStart(r):
		return s.name()
	case isDigit(r):
		return s.number()
	case r == '$' || r == '#' || r == '\\':
		return expression.Errorf(from, "unexpected %q: put the name of a monitor with such characters into quotes", r)
	}
	s.out = append(s.out, r)
	s.at++
	return nil
}

// put replaces the input up to end by a word.
func (s *scanner) put(end int, w word) error {
	if len(s.words) == len(expression.Marks) {
		return expression.Errorf(s.at, "more than %d names and quantities in one expression", len(expression.Marks))
	}
	s.out = append(s.out, '$', rune(expression.Marks[len(s.words)]))
	for range end - s.at - 2 {
		s.out = append(s.out, ' ')
	}
	s.words = append(s.words, w)
	s.at = end
	return nil
}

func (s *scanner) quoted(from int) (string, int, error) {
	end := s.while(from+1, func(r rune) bool { return r != s.in[from] })
	if end == len(s.in) {
		return "", 0, expression.Errorf(from, "the quote that begins here has no end")
	}
	return string(s.in[from+1 : end]), end + 1, nil
}

// name takes a monitor's name and its selector. Plain names are left to the parser, which tells them from functions and operators.
func (s *scanner) name() error {
	end := s.while(s.at, isNamePart)
	w := word{name: string(s.in[s.at:end])}
	if s.peek(end) == '{' {
		var err error
		if w.labels, end, err = s.selector(end); err != nil {
			return err
		}
	} else if !strings.ContainsAny(w.name, ".#$") {
		s.out = append(s.out, s.in[s.at:end]...)
		s.at = end
		return nil
	}
	if strings.HasSuffix(w.name, ".") {
		return expression.Errorf(s.at, "the name %s ends in a dot", w.name)
	}
	return s.put(end, w)
}

// selector reads {class~"Order*", pool!="tax"}.
func (s *scanner) selector(at int) (labels []label, end int, err error) {
	space := func() { at = s.while(at, unicode.IsSpace) }
	for at++; ; at++ {
		var l label
		space()
		keyEnd := s.while(at, isNamePart)
		if l.key = string(s.in[at:keyEnd]); l.key == "" {
			return nil, 0, expression.Errorf(at, `want a label here, as in {class="Order"} or {class~"Order*"}`)
		}
		at = keyEnd
		space()
		if l.not = s.peek(at) == '!'; l.not {
			at++
		}
		if l.glob = s.peek(at) == '~'; !l.glob && s.peek(at) != '=' {
			return nil, 0, expression.Errorf(at, "want =, ~, != or !~ after the label %s", l.key)
		}
		at++
		space()
		if q := s.peek(at); q != '"' && q != '\'' {
			return nil, 0, expression.Errorf(at, "want the value of the label %s in quotes", l.key)
		}
		if l.value, end, err = s.quoted(at); err != nil {
			return nil, 0, err
		}
		if _, err := path.Match(l.value, ""); l.glob && err != nil {
			return nil, 0, expression.Errorf(at, "%q: %v", l.value, err)
		}
		labels, at = append(labels, l), end
		space()
		switch s.peek(at) {
		case '}':
			return labels, at + 1, nil
		case ',':
			continue
		}
		return nil, 0, expression.Errorf(at, "want , or } after the value of the label %s", l.key)
	}
}

// number takes a number with a unit, as 1ms; one without is left to the parser.
func (s *scanner) number() error {
	end := s.while(s.at, isDigit)
	if s.peek(end) == '.' && isDigit(s.peek(end+1)) {
		end = s.while(end+1, isDigit)
	}
	if e := end; s.peek(e) == 'e' || s.peek(e) == 'E' {
		if e++; s.peek(e) == '+' || s.peek(e) == '-' {
			e++
		}
		if isDigit(s.peek(e)) {
			end = s.while(e, isDigit)
		}
	}
	unitEnd := s.while(end, func(r rune) bool { return unicode.IsLetter(r) || isDigit(r) || r == '_' })
	if s.peek(end) == '%' && !isNamePart(s.peek(end+1)) {
		unitEnd = end + 1
	}
	name := string(s.in[end:unitEnd])
	if name == "" {
		s.out = append(s.out, s.in[s.at:end]...)
		s.at = end
		return nil
	}
	w, known := words[name]
	if !known || name == "count" || name == "ratio" {
		return expression.Errorf(end, "unknown unit %s: use ns, us, ms, s, min, B, kB, MB, GB, KiB, MiB, GiB, tasks or %%", name)
	}
	value, err := strconv.ParseFloat(string(s.in[s.at:end]), 64)
	if err != nil {
		return expression.Errorf(s.at, "%s is no number: %v", string(s.in[s.at:end]), err)
	}
	u := unit{}
	if w.key != "" {
		u[w.key] = 1
	}
	return s.put(unitEnd, word{value: value * w.factor, unit: u})
}

// Split splits a list of expressions at its commas, but not at those in brackets or quotes.
func Split(list string) (out []string) {
	depth, from, quote := 0, 0, rune(0)
	for i, r := range list {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' || r == '`':
			quote = r
		case r == '(' || r == '{':
			depth++
		case r == ')' || r == '}':
			depth--
		case r == ',' && depth <= 0:
			out, from = append(out, strings.TrimSpace(list[from:i])), i+1
		}
	}
	return append(out, strings.TrimSpace(list[from:]))
}
