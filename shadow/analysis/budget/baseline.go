package budget

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/expression"
	"stackagent/internal/text"
	"stackagent/internal/yamlfile"
)

// Baseline are the figures that later sessions are compared with. Its file is small and kept beside the code.
type Baseline struct {
	Program string // main class
	JVM     string
	CPUs    int
	figures map[Name][]float64
	names   []Name // in the order of the file
}

// NewBaseline is the baseline of gathered figures; missing are those that the sessions do not have.
func NewBaseline(f *Figures, names []Name) (b *Baseline, missing []Name) {
	b = &Baseline{figures: map[Name][]float64{}}
	for _, n := range names {
		s := f.Sample(n)
		if s.Missing(n) != "" {
			missing = append(missing, n)
			continue
		}
		b.names, b.figures[n] = append(b.names, n), s.Values
	}
	return b, missing
}

// Len is the number of figures.
func (b *Baseline) Len() int { return len(b.names) }

func (b *Baseline) sample(n Name) Sample {
	if b == nil {
		return Sample{Why: "there is no baseline: give one with --baseline"}
	}
	if v, ok := b.figures[n]; ok {
		return Sample{Values: v}
	}
	return Sample{Why: "the baseline has no " + text.OneLine(n.String()) + ": write it anew with --write-baseline"}
}

func (b *Baseline) value(n Name) value { return b.sample(n).value() }

// Unlike says in what the runs of a baseline differ from these, so that times may not compare; "": in nothing known.
func (b *Baseline) Unlike(program, jvm string, cpus int) string {
	switch {
	case b.Program != program:
		return fmt.Sprintf("the baseline is of program %s, these sessions of %s", b.Program, program)
	case b.JVM != jvm:
		return fmt.Sprintf("the baseline was recorded with Java %s, these sessions with %s", b.JVM, jvm)
	case b.CPUs != cpus:
		return fmt.Sprintf("the baseline was recorded on %d CPUs, these sessions on %d", b.CPUs, cpus)
	}
	return ""
}

const baselineHead = "# Figures of `shadow check --write-baseline`, one value per run. Keep this file beside the code and review its changes.\n"

// version is that of the file's format.
const version = "1"

// Bytes is the file of a baseline.
func (b *Baseline) Bytes() ([]byte, error) {
	plain := func(s string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: s, Style: yaml.DoubleQuotedStyle}
	}
	word := func(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }
	figures := &yaml.Node{Kind: yaml.SequenceNode}
	for _, n := range b.names {
		values := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, v := range b.figures[n] {
			values.Content = append(values.Content, word(strconv.FormatFloat(v, 'f', -1, 64)))
		}
		figures.Content = append(figures.Content, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
			word("figure"), plain(n.String()), word("values"), values}})
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		word("version"), word(version), word("program"), plain(b.Program), word("jvm"), plain(b.JVM), word("cpus"), word(strconv.Itoa(b.CPUs)), word("figures"), figures}}
	var out bytes.Buffer
	out.WriteString(baselineHead)
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("writing a baseline: %w", err)
	}
	return out.Bytes(), e.Close()
}

// ReadBaseline reads the file of a baseline that is open.
func ReadBaseline(r io.Reader, path string) (*Baseline, error) {
	data, err := read(r)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	b, err := parseBaseline(data)
	if err != nil {
		return nil, fmt.Errorf("baseline %s: %w", text.OneLine(path), err)
	}
	return b, nil
}

func parseBaseline(data []byte) (*Baseline, error) {
	n, err := yamlfile.Document(data, maxBytes)
	if err != nil {
		return nil, err
	}
	b, v := &Baseline{figures: map[Name][]float64{}}, ""
	err = yamlfile.Fields(n, "baseline", map[string]yamlfile.Setter{
		"version": line(&v), "program": line(&b.Program), "jvm": line(&b.JVM), "cpus": whole(&b.CPUs),
		"figures": func(n *yaml.Node) error { return each(n, "figures", maxFigures, b.parseFigure) },
	})
	if err == nil && v != version {
		err = yamlfile.At(n, "version: %q: this shadow reads version %s; write the baseline anew with --write-baseline", text.Cut(v, 40), version)
	}
	return b, err
}

func whole(to *int) yamlfile.Setter {
	return func(n *yaml.Node) error {
		var s string
		if err := line(&s)(n); err != nil {
			return err
		}
		v, err := strconv.Atoi(s)
		if err != nil || v < 0 || v > 1_000_000 {
			return yamlfile.At(n, "%q: needs a whole number", text.Cut(s, 40))
		}
		*to = v
		return nil
	}
}

// maxFigure is beyond every figure: 30 years in ns. Means and ratios of such numbers stay finite.
const maxFigure = 1e18

func (b *Baseline) parseFigure(n *yaml.Node) error {
	var name string
	var values []float64
	err := yamlfile.Fields(n, "figure", map[string]yamlfile.Setter{"figure": line(&name), "values": func(n *yaml.Node) error {
		return each(n, "values", maxValues, func(n *yaml.Node) error {
			var s string
			if err := line(&s)(n); err != nil {
				return err
			}
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(v) || math.Abs(v) > maxFigure {
				return yamlfile.At(n, "%q: needs a number, at most %g", text.Cut(s, 40), maxFigure)
			}
			values = append(values, v)
			return nil
		})
	}})
	if err != nil {
		return err
	}
	x, err := ParseName(name)
	switch {
	case err != nil:
		return yamlfile.At(n, "figure: %w", err)
	case len(values) == 0:
		return yamlfile.At(n, "figure %s has no values", text.OneLine(name))
	case b.figures[x] != nil:
		return yamlfile.At(n, "figure %s is there twice", text.OneLine(name))
	}
	b.names, b.figures[x] = append(b.names, x), values
	return nil
}

// ParseName reads the name of a figure.
func ParseName(s string) (Name, error) {
	c := &compiler{out: &Expr{}}
	if err := c.parse(s); err != nil {
		return Name{}, err
	}
	if c.out.root.name == nil {
		return Name{}, expression.Errorf(-1, "%s is no name of a figure", text.OneLine(s))
	}
	return *c.out.root.name, nil
}
