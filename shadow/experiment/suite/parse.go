package suite

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/taskdef"
	"stackagent/internal/text"
	"stackagent/internal/yamlfile"
)

// Limits on what a file may claim.
const (
	maxPrograms = 1000
	maxList     = 256
	maxValue    = 4096 // bytes of a value
	maxCount    = 1_000_000
)

// parse reads the programs of a file whose folder is dir.
func parse(data []byte, dir string) ([]Program, error) {
	document, err := yamlfile.Document(data, maxBytes)
	if errors.Is(err, yamlfile.ErrEmpty) {
		return nil, fmt.Errorf("%w: it needs programs:, a list", err)
	} else if err != nil {
		return nil, err
	}
	var programs []Program
	err = yamlfile.Fields(document, "suite", map[string]yamlfile.Setter{"programs": func(n *yaml.Node) (err error) {
		programs, err = parsePrograms(n, dir)
		return err
	}})
	if err == nil && len(programs) == 0 {
		err = errors.New("it has no programs")
	}
	return programs, err
}

func parsePrograms(list *yaml.Node, dir string) ([]Program, error) {
	if list.Kind != yaml.SequenceNode {
		return nil, yamlfile.At(list, "programs: needs a list")
	}
	if len(list.Content) > maxPrograms {
		return nil, yamlfile.At(list, "more than %d programs", maxPrograms)
	}
	lines := map[string]int{}
	programs := make([]Program, 0, len(list.Content))
	for _, n := range list.Content {
		p := Program{Dir: dir}
		if err := p.parse(n); err != nil {
			return nil, err
		}
		if line, again := lines[p.Name]; again {
			return nil, yamlfile.At(n, "the program on line %d is named %q, too", line, p.Name)
		}
		lines[p.Name] = n.Line
		programs = append(programs, p)
	}
	return programs, nil
}

func (p *Program) setters() map[string]yamlfile.Setter {
	return map[string]yamlfile.Setter{
		"name":       p.setName,
		"what":       line(&p.What),
		"command":    arguments(&p.Command),
		"prepare":    arguments(&p.Prepare),
		"size":       line(&p.Size),
		"small":      line(&p.Small),
		"iterations": count(&p.Iterations),
		"marker":     p.setMarker,
		"requests":   line(&p.Requests),
		"tasks":      p.setTasks,
		"words":      p.setWords,
		"check":      expression(&p.Check),
		"jdk":        p.setJDK,
		"licence":    line(&p.Licence),
	}
}

func (p *Program) parse(n *yaml.Node) error {
	if err := yamlfile.Fields(n, "program", p.setters()); err != nil {
		return err
	}
	switch {
	case p.Name == "":
		return yamlfile.At(n, "a program without a name:")
	case p.Command == nil:
		return yamlfile.At(n, "%s has no command:", p.Name)
	}
	if problem := p.checkWords(p.Command, commandWords(p.Words)); problem != "" {
		return yamlfile.At(value(n, "command"), "command: %s", problem)
	}
	if problem := p.checkWords(p.Prepare, prepareWords); problem != "" {
		return yamlfile.At(value(n, "prepare"), "prepare: %s", problem)
	}
	if p.Small == "" {
		p.Small = p.Size
	}
	return nil
}

// value is that of a key of a mapping which has it.
func value(n *yaml.Node, key string) *yaml.Node {
	return n.Content[1+slices.IndexFunc(n.Content, func(c *yaml.Node) bool { return c.Value == key })]
}

func scalar(n *yaml.Node) (string, error) { return yamlfile.Scalar(n, maxValue) }

func line(to *string) yamlfile.Setter {
	return func(n *yaml.Node) (err error) {
		*to, err = scalar(n)
		return err
	}
}

func count(to *int) yamlfile.Setter {
	return func(n *yaml.Node) error {
		s, err := scalar(n)
		if err != nil {
			return err
		}
		v, err := strconv.Atoi(s)
		if err != nil || v < 1 || v > maxCount {
			return yamlfile.At(n, "%q: needs a number from 1 to %d", text.Cut(s, 40), maxCount)
		}
		*to = v
		return nil
	}
}

func expression(to **regexp.Regexp) yamlfile.Setter {
	return func(n *yaml.Node) error {
		s, err := scalar(n)
		if err != nil {
			return err
		}
		*to, err = compile(n, s)
		return err
	}
}

func compile(n *yaml.Node, s string) (*regexp.Regexp, error) {
	r, err := regexp.Compile(s)
	switch {
	case err != nil:
		return nil, yamlfile.At(n, "%w", err)
	case s == "":
		return nil, yamlfile.At(n, "an empty expression matches every line")
	}
	return r, nil
}

// list is a list of texts.
func list(n *yaml.Node) ([]string, error) {
	switch {
	case n.Kind != yaml.SequenceNode:
		return nil, yamlfile.At(n, "needs a list, such as [a, b]")
	case len(n.Content) > maxList:
		return nil, yamlfile.At(n, "a list of more than %d texts", maxList)
	}
	var all []string
	for _, c := range n.Content {
		s, err := scalar(c)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// arguments is a command: a text that is split at spaces, or a list for arguments that have some.
func arguments(to *[]string) yamlfile.Setter {
	return func(n *yaml.Node) (err error) {
		var args []string
		if n.Kind == yaml.SequenceNode {
			args, err = list(n)
		} else {
			var s string
			s, err = scalar(n)
			args = strings.Fields(s)
		}
		switch {
		case err != nil:
			return err
		case len(args) == 0 || args[0] == "":
			return yamlfile.At(n, "an empty command")
		case len(args) > maxList:
			return yamlfile.At(n, "a command of more than %d words", maxList)
		}
		*to = args
		return nil
	}
}

// A name is the name of a folder, too.
var nameSyntax = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (p *Program) setName(n *yaml.Node) (err error) {
	if p.Name, err = scalar(n); err == nil && !nameSyntax.MatchString(p.Name) {
		err = yamlfile.At(n, "the name %q: use up to 64 letters, digits, '.', '_' and '-', beginning with a letter or digit", text.Cut(p.Name, 80))
	}
	return err
}

func (p *Program) setMarker(n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	kind, value, _ := strings.Cut(s, ":")
	value = strings.TrimSpace(value)
	p.Marker.Kind = MarkerKind(kind)
	switch p.Marker.Kind {
	case OutputMarker:
		p.Marker.Line, err = compile(n, value)
		return err
	case TaskMarker:
		p.Marker.Task = value
		return checkTask(n, value)
	}
	return yamlfile.At(n, "marker %q: use output:EXPRESSION or task:CLASS#METHOD", text.Cut(s, 40))
}

func checkTask(n *yaml.Node, s string) error {
	if problem := taskdef.Check(s); problem != "" {
		return yamlfile.At(n, "task %q: %s", text.Cut(s, 80), problem)
	}
	return nil
}

func (p *Program) setTasks(n *yaml.Node) (err error) {
	if p.Tasks, err = list(n); err != nil {
		return err
	}
	for i, t := range p.Tasks {
		if err := checkTask(n.Content[i], t); err != nil {
			return err
		}
	}
	return nil
}

var jdkSyntax = regexp.MustCompile(`^(\d{1,3})(-(\d{1,3})?)?$`)

// setJDK reads 17, 21- or 17-23.
func (p *Program) setJDK(n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	m := jdkSyntax.FindStringSubmatch(s)
	if m == nil {
		return yamlfile.At(n, "jdk %q: use 17, 21- or 17-23", text.Cut(s, 40))
	}
	p.JDK.Min, _ = strconv.Atoi(m[1])
	p.JDK.Max, _ = strconv.Atoi(m[3])
	if m[2] == "" {
		p.JDK.Max = p.JDK.Min
	}
	if p.JDK.Max > 0 && p.JDK.Max < p.JDK.Min {
		return yamlfile.At(n, "jdk %s: no version is between them", s)
	}
	return nil
}
