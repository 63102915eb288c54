package expression

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind is what a Node is.
type Kind int

// The kinds. Other is what Go has and the languages here do not, as an index.
const (
	Other  Kind = iota
	Number      // Value
	Bool        // Value is 1 or 0
	Quoted      // Text
	Name        // Text
	Marked      // Mark
	Member      // Text of Args[0]; "": what is in its brackets is not a quoted text
	Call        // Args[0], with the other Args
	Unary       // operator Text before Args[0]: + - not
	Binary      // operator Text between both Args: && is and, || is or
)

// Node is a part of an expression.
type Node struct {
	Kind   Kind
	Column int // where it begins, or the operator; in characters, from 0
	Text   string
	Value  float64
	Mark   int // number of a mark
	Args   []*Node
}

// Names have their characters in the source. For go/parser a mark becomes a letter and its character, and a keyword of Go begins
// with its wide form; both keep columns right.
const (
	markLetter = 'ƨ'
	wide       = 'ａ' - 'a'
)

var words = map[string]string{"and": "&& ", "or": "||", "not": "!  "}

func isWide(r rune) bool { return 'a' <= r-wide && r-wide <= 'z' }

// inGo writes the marked source as an expression of Go, a character for a character.
func inGo(marked string) (string, error) {
	in := []rune(marked)
	out := slices.Clone(in)
	for i := 0; i < len(in); {
		r, next := in[i], rune(0)
		if i+1 < len(in) {
			next = in[i+1]
		}
		switch {
		case r == '"' || r == '\'' || r == '`':
			end := quoteEnd(in, i)
			if r == '\'' && end <= len(in) {
				if slices.Contains(in[i:end], '`') {
					return "", Errorf(i, "quotes of two kinds in each other: use \"")
				}
				out[i], out[end-1] = '`', '`'
			}
			i = end
		case r == '$' && strings.ContainsRune(Marks, next):
			out[i] = markLetter
			i += 2
		case strings.ContainsRune("${}", r), r == markLetter, isWide(r), r == '/' && (next == '/' || next == '*'), r == '[' && !follows(in[:i]):
			return "", Errorf(i, "unexpected %c", r)
		case unicode.IsLetter(r) || r == '_':
			end := i
			for end < len(in) && (unicode.IsLetter(in[end]) || unicode.IsDigit(in[end]) || in[end] == '_') {
				end++
			}
			word := string(in[i:end])
			if operator, is := words[word]; is && !strings.HasSuffix(strings.TrimSpace(string(in[:i])), ".") {
				copy(out[i:end], []rune(operator))
			} else if token.IsKeyword(word) {
				out[i] += wide
			}
			i = end
		default:
			i++
		}
	}
	return string(out), nil
}

// follows reports whether an index may follow.
func follows(before []rune) bool {
	text := strings.TrimRight(string(before), " ")
	r, _ := utf8.DecodeLastRuneInString(text)
	return text != "" && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_)]", r))
}

// quoteEnd is behind the quote that ends what begins at i, and beyond in if none does.
func quoteEnd(in []rune, i int) int {
	quote := in[i]
	for i++; i < len(in) && in[i] != quote; i++ {
		if in[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i + 1
}

func parse(source, marked string) (*Node, error) {
	text, err := inGo(marked)
	if err != nil {
		return nil, err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseExprFrom(files, "", text, parser.SkipObjectResolution)
	c := converter{files: files, text: text}
	var list scanner.ErrorList
	switch {
	case errors.As(err, &list):
		return nil, c.syntax(source, list[0])
	case err != nil:
		return nil, Errorf(-1, "%v", err)
	}
	n := c.node(tree)
	if c.nodes > MaxNodes {
		return nil, Errorf(-1, "the expression has more than %d parts", MaxNodes)
	}
	return n, nil
}

// converter makes Nodes of what go/parser returns.
type converter struct {
	files *token.FileSet
	text  string
	nodes int
}

// syntax says what is wrong in the words of the source.
func (c *converter) syntax(source string, e *scanner.Error) error {
	column := utf8.RuneCountInString(c.text[:min(e.Pos.Offset, len(c.text))])
	rest := strings.TrimSpace(string([]rune(source)[min(column, utf8.RuneCountInString(source)):]))
	switch {
	case strings.Contains(e.Msg, "not terminated"):
		return Errorf(column, "the quote that begins here has no end")
	case rest == "":
		return Errorf(column, "the expression ends too early")
	}
	word, _, _ := strings.Cut(rest, " ")
	return Errorf(column, "unexpected %s", Shorten(word))
}

func (c *converter) column(p token.Pos) int {
	return utf8.RuneCountInString(c.text[:c.files.Position(p).Offset])
}

func (c *converter) node(e ast.Expr) *Node {
	e = ast.Unparen(e)
	if c.nodes++; c.nodes > MaxNodes {
		return &Node{}
	}
	n := &Node{Column: c.column(e.Pos())}
	switch e := e.(type) {
	case *ast.BasicLit:
		c.literal(n, e)
	case *ast.Ident:
		c.name(n, e.Name)
	case *ast.SelectorExpr:
		n.Kind, n.Args = Member, []*Node{c.node(e.X)}
		n.Text = narrow(e.Sel.Name)
	case *ast.IndexExpr:
		n.Kind, n.Args = Member, []*Node{c.node(e.X)}
		if of := c.node(e.Index); of.Kind == Quoted {
			n.Text = of.Text
		}
	case *ast.CallExpr:
		if e.Ellipsis.IsValid() {
			break
		}
		n.Kind, n.Args = Call, []*Node{c.node(e.Fun)}
		for _, a := range e.Args {
			n.Args = append(n.Args, c.node(a))
		}
	case *ast.UnaryExpr:
		if text, is := map[token.Token]string{token.ADD: "+", token.SUB: "-", token.NOT: "not"}[e.Op]; is {
			n.Kind, n.Text, n.Args = Unary, text, []*Node{c.node(e.X)}
		}
	case *ast.BinaryExpr:
		n.Kind, n.Text, n.Column = Binary, e.Op.String(), c.column(e.OpPos)
		switch e.Op {
		case token.LAND:
			n.Text = "and"
		case token.LOR:
			n.Text = "or"
		}
		n.Args = []*Node{c.node(e.X), c.node(e.Y)}
		if left, chained := e.X.(*ast.BinaryExpr); chained && ordered(e.Op) && ordered(left.Op) { // a < b <= c is a < b and b <= c
			second := *n
			second.Args = []*Node{c.node(left.Y), n.Args[1]}
			n.Text, n.Args = "and", []*Node{n.Args[0], &second}
		}
	}
	return n
}

func ordered(t token.Token) bool {
	return t == token.LSS || t == token.LEQ || t == token.GTR || t == token.GEQ
}

func (c *converter) literal(n *Node, l *ast.BasicLit) {
	var err error
	switch l.Kind {
	case token.INT, token.FLOAT:
		n.Kind = Number
		n.Value, err = strconv.ParseFloat(l.Value, 64)
	case token.STRING:
		n.Kind = Quoted
		n.Text, err = strconv.Unquote(l.Value)
	}
	if err != nil {
		n.Kind = Other
	}
}

func (c *converter) name(n *Node, name string) {
	if mark, is := strings.CutPrefix(name, string(markLetter)); is {
		n.Kind, n.Mark = Marked, strings.Index(Marks, mark)
		return
	}
	n.Kind, n.Text = Name, narrow(name)
	if n.Text == "true" || n.Text == "false" {
		n.Kind = Bool
		if n.Text == "true" {
			n.Value = 1
		}
	}
}

// narrow is a name as it is in the source.
func narrow(name string) string {
	if r, size := utf8.DecodeRuneInString(name); isWide(r) {
		return string(r-wide) + name[size:]
	}
	return name
}
