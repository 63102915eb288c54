// Package expression is what the languages over monitors (shadow/analysis/formula) and over figures (shadow/analysis/budget) have in common:
// limits, since expressions may come from anywhere, errors with their place, and parsing by go/parser.
package expression

import (
	"errors"
	"fmt"
	"strings"

	"stackagent/internal/text"
)

// Limits on an expression.
const (
	MaxLength = 1000 // bytes
	MaxNodes  = 200
	MaxDepth  = 60 // of expressions and brackets in each other
	maxShown  = 60 // characters of a part in a message
)

// Marks number what the parser does not know, such as quantities with a unit. A scanner puts $ and a mark in its place, and
// fills up with spaces, so that columns of errors stay right.
const Marks = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Error is a mistake in an expression.
type Error struct {
	Expr   string
	Column int // of the character, from 0; below 0: of the whole expression
	Text   string
}

// Error implements error.
func (e *Error) Error() string {
	if e.Column < 0 {
		return e.Text
	}
	return fmt.Sprintf("column %d: %s", e.Column+1, e.Text)
}

// Errorf makes an Error at a column.
func Errorf(column int, format string, args ...any) *Error {
	return &Error{Column: column, Text: fmt.Sprintf(format, args...)}
}

// In names the expression in an Error.
func In(source string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Expr = source
	}
	return err
}

// Shorten keeps texts of nested expressions from growing without limit.
func Shorten(s string) string {
	if r := []rune(s); len(r) > maxShown {
		return string(r[:maxShown]) + "..."
	}
	return s
}

// Parse parses an expression. scan puts marks into it, and returns what they stand for.
func Parse[M any](source string, scan func(string) (string, []M, error)) (*Node, []M, error) {
	switch {
	case len(source) > MaxLength:
		return nil, nil, Errorf(-1, "the expression is longer than %d characters", MaxLength)
	case strings.TrimSpace(source) == "":
		return nil, nil, Errorf(-1, "the expression is empty")
	case text.Clean(source, '?') != source:
		return nil, nil, Errorf(-1, "the expression has control characters")
	}
	marked, marks, err := scan(source)
	if err != nil {
		return nil, nil, err
	}
	if column := tooDeep(marked); column >= 0 {
		return nil, nil, Errorf(column, "more than %d brackets or signs in each other", MaxDepth)
	}
	tree, err := parse(source, marked)
	if err != nil {
		return nil, nil, err
	}
	return tree, marks, nil
}

// tooDeep is where brackets or signs nest too deep for the parser, which recurses; below 0: nowhere.
func tooDeep(source string) int {
	depth, signs := 0, 0
	for i, r := range []rune(source) {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '-', '+', '!':
			signs++
		case ' ':
		default:
			signs = 0
		}
		if depth+signs > MaxDepth {
			return i
		}
	}
	return -1
}
