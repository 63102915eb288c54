package budget

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"

	"stackagent/internal/text"
)

// Report is the results of a check.
type Report struct {
	Sessions []string
	// AllowEmpty: what is not available does not fail.
	AllowEmpty bool
	Notes      []string // what may keep figures from being compared
	Results    []*Result
}

// Count is the number of results in a state.
func (r *Report) Count(s State) (n int) {
	for _, x := range r.Results {
		if x.State == s {
			n++
		}
	}
	return n
}

// Failed reports whether a budget fails the check.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Results, func(x *Result) bool { return x.Fails(r.AllowEmpty) })
}

// Text sums the results up.
func (r *Report) Text() string {
	line := fmt.Sprintf("%s: %d kept, %d broken, %d not available", text.Plural(len(r.Results), "budget", "budgets"), r.Count(Kept), r.Count(Broken), r.Count(NotAvailable))
	if slices.ContainsFunc(r.Results, func(x *Result) bool { return x.State == NotAvailable && x.Fails(r.AllowEmpty) }) {
		line += ", which fails (--allow-empty lets it pass)"
	}
	return line
}

// resultJSON is a result in JSON.
type resultJSON struct {
	Name     string  `json:"name"`
	State    State   `json:"state"`
	Severity string  `json:"severity"`
	Fails    bool    `json:"fails"`
	Session  string  `json:"session,omitempty"`
	Expr     string  `json:"expr"`
	Must     string  `json:"must"` // "hold" or "not hold"
	Why      string  `json:"why,omitempty"`
	Missing  string  `json:"not_available,omitempty"`
	Text     string  `json:"text"`
	File     string  `json:"file,omitempty"`
	Line     int     `json:"line,omitempty"`
	Figures  []Shown `json:"figures"`
}

// reportJSON is a Report in JSON.
type reportJSON struct {
	Failed       bool         `json:"failed"`      // whether the check fails: exit code 3
	AllowEmpty   bool         `json:"allow_empty"` // what is not available does not fail
	Sessions     []string     `json:"sessions"`
	Kept         int          `json:"kept"`          // budgets that hold
	Broken       int          `json:"broken"`        // budgets that do not
	NotAvailable int          `json:"not_available"` // budgets of which a figure is not available
	Notes        []string     `json:"notes,omitempty"`
	Results      []resultJSON `json:"results"`
}

// JSONSchemaAlias has the fields of JSON.
func (*Report) JSONSchemaAlias() any { return reportJSON{} }

// JSON is what the report is in JSON: the results and their number by state.
func (r *Report) JSON() any {
	rows := make([]resultJSON, 0, len(r.Results))
	for _, x := range r.Results {
		j := resultJSON{Name: x.Name, State: x.State, Severity: x.Severity, Fails: x.Fails(r.AllowEmpty), Session: x.Of, Expr: x.Expr().Text, Must: "hold",
			Why: x.Budget.Why, Missing: x.Why, Text: x.Text(), File: x.File, Line: x.Line, Figures: x.Figures}
		if x.Budget.Fails != nil {
			j.Must = "not hold"
		}
		if j.Figures == nil {
			j.Figures = []Shown{}
		}
		rows = append(rows, j)
	}
	return reportJSON{r.Failed(), r.AllowEmpty, r.Sessions, r.Count(Kept), r.Count(Broken), r.Count(NotAvailable), r.Notes, rows}
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
	Out      *junitLines `xml:"system-out,omitempty"`
}

type junitCase struct {
	Name    string      `xml:"name,attr"`
	Class   string      `xml:"classname,attr"`
	File    string      `xml:"file,attr,omitempty"`
	Line    int         `xml:"line,attr,omitempty"`
	Failure *junitText  `xml:"failure,omitempty"`
	Skipped *junitText  `xml:"skipped,omitempty"`
	Out     *junitLines `xml:"system-out,omitempty"`
}

type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

type junitLines struct {
	Text string `xml:",chardata"`
}

// JUnit writes the results as a test suite. A broken warning passes and says so in its output: test reports know no warnings.
func (r *Report) JUnit(w io.Writer) error {
	s := junitSuite{Name: "shadow check", Tests: len(r.Results)}
	for _, x := range r.Results {
		c := junitCase{Name: clean(x.Name), Class: "shadow.check", File: clean(x.File), Line: x.Line}
		if x.Of != "" {
			c.Class += "." + strings.ReplaceAll(clean(x.Of), ".", "_")
		}
		line := clean(x.Text())
		long := clean(x.Expr().Text) + "\n" + line
		if x.Budget.Why != "" {
			long += "\n" + clean(x.Budget.Why)
		}
		switch {
		case x.Fails(r.AllowEmpty):
			s.Failures++
			c.Failure = &junitText{Message: line, Type: string(x.State), Text: long}
		case x.State == NotAvailable:
			s.Skipped++
			c.Skipped = &junitText{Message: line}
		case x.State == Broken:
			c.Out = &junitLines{"warning: " + long}
		default:
			c.Out = &junitLines{long}
		}
		s.Cases = append(s.Cases, c)
	}
	if len(r.Notes) > 0 {
		s.Out = &junitLines{clean(strings.Join(r.Notes, "; "))}
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// clean replaces hidden characters, which XML 1.0, logs and terminals do not take.
func clean(s string) string { return text.Clean(s, '\ufffd') }

var (
	// What ends a message or a property of a workflow command.
	annotationText     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotationProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub writes a workflow command for each note, and for each budget that is not kept.
func (r *Report) GitHub(w io.Writer) error {
	for _, n := range r.Notes {
		if _, err := fmt.Fprintf(w, "::notice title=shadow check::%s\n", annotationText.Replace(clean(n))); err != nil {
			return fmt.Errorf("writing annotations: %w", err)
		}
	}
	for _, x := range r.Results {
		level := "notice"
		switch {
		case x.State == Kept:
			continue
		case x.Fails(r.AllowEmpty):
			level = "error"
		case x.State == Broken:
			level = "warning"
		}
		properties := "title=" + annotationProperty.Replace(clean("shadow check: "+x.Name))
		if x.File != "" {
			properties = fmt.Sprintf("file=%s,line=%d,%s", annotationProperty.Replace(clean(x.File)), x.Line, properties)
		}
		message := x.Text()
		if x.Of != "" {
			message = x.Of + ": " + message
		}
		if _, err := fmt.Fprintf(w, "::%s %s::%s\n", level, properties, annotationText.Replace(clean(message))); err != nil {
			return fmt.Errorf("writing annotations: %w", err)
		}
	}
	_, err := fmt.Fprintln(w, r.Text())
	return err
}

// Markdown writes the results as a table, such as for $GITHUB_STEP_SUMMARY.
func (r *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	heading := "kept"
	switch {
	case r.Failed() && r.Count(Broken) == 0:
		heading = "not available"
	case r.Failed():
		heading = "broken"
	}
	fmt.Fprintf(&b, "### Budgets: %s\n\n%s.\n", heading, r.Text())
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\n%s\n", text.Markdown(n))
	}
	b.WriteString("\n| | budget | figures |\n|---|---|---|\n")
	for _, x := range r.Results {
		state := string(x.State)
		switch {
		case x.State == Broken && x.Severity == SeverityWarning:
			state = "broken (warning)"
		case x.State == Broken:
			state = "**broken**"
		case x.Fails(r.AllowEmpty):
			state = "**not available**"
		case x.State == NotAvailable:
			state = "not available"
		}
		name := x.Name
		if x.Of != "" {
			name += " (" + x.Of + ")"
		}
		line := x.Text()
		if x.Budget.Why != "" && x.State == Broken {
			line += ". " + x.Budget.Why
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", state, text.Markdown(name), text.Markdown(line))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing Markdown: %w", err)
	}
	return nil
}
