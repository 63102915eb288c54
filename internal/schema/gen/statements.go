package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"stackagent/internal/schema"
)

// goType is the Go type of an item.
func goType(i schema.Item) string { return cmp.Or(i.Type, "uint64") }

// path is where x has an item.
func path(i schema.Item) string {
	if i.Of != nil {
		return "x." + i.Of.Name + "." + i.Name
	}
	return "x." + i.Name
}

// stages are the items of a statement that travel, by stage.
func stages(s *schema.Statement) (list [][]schema.Item) {
	for _, i := range s.Items {
		for len(list) < i.Stage {
			list = append(list, nil)
		}
		if i.Stage > 0 {
			list[i.Stage-1] = append(list[i.Stage-1], i)
		}
	}
	return list
}

// writeStatements makes the types and codecs of what the agent says of the whole session.
func writeStatements(c *code) {
	c.begin("wire", "stackagent/internal/label", "stackagent/internal/units")
	for _, s := range []*schema.Statement{&schema.Hello, &schema.Totals} {
		statementTypes(c, s)
		statementWriter(c, s)
		statementReader(c, s)
	}
	addTotals(c)
}

func statementTypes(c *code, s *schema.Statement) {
	parts := map[*schema.Part]bool{}
	c.comment(s.Doc)
	c.p("type %s struct {", s.Name)
	for _, i := range s.Items {
		switch {
		case i.Stage == 0 || parts[i.Of]:
		case i.Of != nil:
			parts[i.Of] = true
			c.p("\t%s %s", i.Of.Name, i.Of.Type)
		default:
			c.p("\t%s %s // %s", i.Name, goType(i), plain(i.Doc))
		}
	}
	c.p("}\n")
	for _, i := range s.Items {
		if i.Of == nil || !parts[i.Of] {
			continue
		}
		parts[i.Of] = false
		partType(c, s, i.Of, func(schema.Item) string { return "" })
	}
}

func partType(c *code, s *schema.Statement, p *schema.Part, tag func(schema.Item) string) {
	c.comment(p.Doc)
	c.p("type %s struct {", p.Type)
	for _, i := range s.Items {
		if i.Of == p {
			c.p("\t%s %s %s // %s", i.Name, goType(i), tag(i), plain(i.Doc))
		}
	}
	c.p("}\n")
}

// writeManifestParts makes the parts as the manifest has them. Their fields are in the same order, so that Go converts one into the other.
func writeManifestParts(c *code) {
	c.begin("store", "stackagent/internal/units")
	seen := map[*schema.Part]bool{nil: true}
	for _, i := range schema.Totals.Items {
		if !seen[i.Of] {
			seen[i.Of] = true
			partType(c, &schema.Totals, i.Of, func(i schema.Item) string { return "`json:\"" + strings.ReplaceAll(words(i.Name), " ", "_") + "\"`" })
		}
	}
}

// itemName is how errors and the page name an item.
func itemName(i schema.Item) string { return cmp.Or(i.What, words(i.Name)) }

// itemCodes are how the types of items travel: when they say something, how they are written and read. x is the item, f how
// errors name it.
var itemCodes = map[string][3]string{
	"uint64":            {"x != 0", "w.uint(x)", "r.uint(f)"},
	"int":               {"x != 0", "w.int(int64(x))", "int(r.intWithin(f, 32))"},
	"int64":             {"x != 0", "w.int(x)", "r.int(f)"},
	"units.Ns":          {"x != 0", "w.int(int64(x))", "units.Ns(r.int(f))"},
	"bool":              {"x", "w.bool(x)", "r.bool(f)"},
	"string":            {`x != ""`, "w.str(x)", "r.str(f)"},
	"ClockPair":         {"x != ClockPair{}", "w.clockPair(&x)", "r.clockPair(f)"},
	"map[string]string": {"len(x) > 0", "w.texts(x)", "r.texts(f)"},
	"label.Labels":      {"!x.IsZero()", "w.labels(&x)", "r.labels()"},
	"[]string":          {"len(x) > 0", "each(w, x, (*writer).text)", "listOf(r, f, (*reader).str)"},
}

// itemCode is how an item travels.
func itemCode(i schema.Item) [3]string {
	code, ok := itemCodes[goType(i)]
	switch entry := lower(strings.TrimPrefix(i.Type, "[]")); {
	case goType(i) == "units.Ns" && i.In != schema.NoProbe: // a sum has no sign
		code[1], code[2] = "w.uint(uint64(x))", "r.sumNs(f)"
	case !ok:
		code = [3]string{"len(x) > 0", "each(w, x, (*writer)." + entry + ")", "listOf(r, f, (*reader)." + entry + ")"}
	}
	return code
}

var itemRE = regexp.MustCompile(`\b[xf]\b`)

// fill puts an item, and how errors name it, into one of its codes.
func fill(code string, s *schema.Statement, i schema.Item) string {
	return itemRE.ReplaceAllStringFunc(code, func(name string) string {
		if name == "x" {
			return path(i)
		}
		return fmt.Sprintf("%q", lower(s.Name)+"."+itemName(i))
	})
}

func statementWriter(c *code, s *schema.Statement) {
	all := stages(s)
	c.p("func (w *writer) %s(x *%s) {\n\tn := %d\n\tswitch {", lower(s.Name), s.Name, fields(all[:s.Always]))
	for k := len(all); k > s.Always; k-- {
		var any []string
		for _, i := range all[k-1] {
			any = append(any, fill(itemCode(i)[0], s, i))
		}
		c.p("\tcase %s:\n\t\tn = %d", strings.Join(any, " || "), fields(all[:k]))
	}
	c.p("\t}\n\tw.arrayLen(n)")
	for k, stage := range all {
		if k >= s.Always {
			c.p("\tif n >= %d {", fields(all[:k+1]))
		}
		for _, i := range stage {
			c.p("\t%s", fill(itemCode(i)[1], s, i))
		}
		if k >= s.Always {
			c.p("\t}")
		}
	}
	c.p("}\n")
}

// fields counts the items of the stages.
func fields(stages [][]schema.Item) (n int) {
	for _, s := range stages {
		n += len(s)
	}
	return n
}

func statementReader(c *code, s *schema.Statement) {
	all := stages(s)
	var lengths []string
	for k := range all {
		lengths = append(lengths, itoa(fields(all[:k+1])))
	}
	c.p("func (r *reader) %s() (x %s) {\n\tn, end := r.fieldsFrom(%q, %s)", lower(s.Name), s.Name, lower(s.Name), strings.Join(lengths, ", "))
	for k, stage := range all {
		if k > 0 {
			c.p("\tif n >= %s {", lengths[k])
		}
		for _, i := range stage {
			c.p("\t%s = %s", path(i), fill(itemCode(i)[2], s, i))
		}
		if k > 0 {
			c.p("\t}")
		}
	}
	c.p("\tend()\n\treturn x\n}\n")
}

// addTotals makes the method that adds sums.
func addTotals(c *code) {
	c.p("// Add adds the sums of o to x, and leaves the lists alone.\nfunc (x *Totals) Add(o *Totals) {")
	for _, i := range schema.Totals.Items {
		switch t := goType(i); {
		case i.Stage == 0 || strings.HasPrefix(t, "[]"):
		case t == "bool":
			c.p("\t%s = %s || o%s", path(i), path(i), path(i)[1:])
		default:
			c.p("\t%s += o%s", path(i), path(i)[1:])
		}
	}
	c.p("}\n")
}

// statementTable describes a statement for the wire's page.
func statementTable(s *schema.Statement) string {
	var b strings.Builder
	b.WriteString("| stage | number | field | meaning |\n|---|---|---|---|\n")
	n := 0
	for k, stage := range stages(s) {
		for _, i := range stage {
			n++
			name := itemName(i)
			if i.Of != nil {
				name = strings.ToLower(i.Of.Name) + ", " + name
			}
			fmt.Fprintf(&b, "| %d | %d | %s | %s |\n", k+1, n, name, i.Doc)
		}
	}
	return b.String()
}
