package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"time"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/advice"
	"stackagent/shadow/figure"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
	"stackagent/shadow/virtual"
)

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

//go:embed page.js
var pageJS string

// Options of a page.
type Options struct {
	Summary summary.Options // what to condense; Shapes is set by Write
	Rows    int             // rows of the hotspot and thread tables, 0: 200
}

const defaultRows = 200

// nameWidth is the length of a class name in the table, in characters. Packages are cut;
// the cell's title has the whole name.
const nameWidth = 44

// originRows is the number of call sites and of executors listed.
const originRows = 20

// Write summarises s and writes its page.
func Write(w io.Writer, s *session.Session, o Options) error {
	o.Summary.Shapes = true
	sum, err := summary.Build(s, o.Summary)
	if err != nil {
		return err
	}
	return WriteSummary(w, sum, o)
}

// WriteSummary writes the page of s, which was built with Shapes. The page is one file
// that refers to no other. Names from the observed program are escaped.
func WriteSummary(w io.Writer, s *summary.Summary, o Options) error {
	p, err := newPage(s, o)
	if err != nil {
		return fmt.Errorf("report of session %s: %w", s.Session, err)
	}
	// Write the whole page or nothing.
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return fmt.Errorf("report of session %s: %w", s.Session, err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the report of session %s: %w", s.Session, err)
	}
	return nil
}

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"ns":      units.FormatNs,
	"count":   units.FormatCount,
	"exact":   units.FormatExact,
	"percent": units.FormatPercent,
	"name":    named,
	"short":   func(s string) string { return figure.Shorten(named(s), nameWidth) },
	"ucount":  func(n uint64) string { return units.FormatCount(int64(n)) },
	"plural":  plural,
	"note":    advice.NoteText,
	"first":   firstShare,
	"width":   func(share float64) string { return fmt.Sprintf("%.1f", 100*min(max(share, 0), 1)) },
}).Parse(pageHTML))

// named makes a name from the observed program printable.
func named(s string) string {
	if s == "" {
		return "(no name)"
	}
	return figure.Printable(s)
}

// plural is "1 event" or "12 events"; the template has counts of both kinds.
func plural(n any, one, many string) (string, error) {
	var count int64
	switch n := n.(type) {
	case int:
		count = int64(n)
	case int64:
		count = n
	case uint64:
		count = int64(n)
	default:
		return "", fmt.Errorf("a %T is not a count", n)
	}
	return text.Plural(count, one, many), nil
}

// data is the template's data.
type data struct {
	*summary.Summary
	CSS       template.CSS
	JS        template.JS
	CSP       string
	Date      string
	WorkLabel string
	Fineness  granularity.Fineness
	FineWhole bool
	// CreationsUnseen: classes loaded before the agent have no creations.
	CreationsUnseen bool
	Never           int64 // tasks that never ran, Steps apart
	Steps           int64 // of CompletableFutures: ran inline or were skipped
	Svg             map[string]drawn
	Rows            []row
	MoreRows        int
	Threads         []summary.ThreadRow
	MoreThreads     int
	VirtualRows     []virtual.Class
	MoreVirtual     int
	Absent          []reason
	LostWhy         []lostReason
	Unended         bool // the record breaks off, or the session still runs
	NeverAtMost     bool // Never is an upper bound
	Whole           bool // nothing was lost, nothing unread, and the end is there
}

// drawn is a figure in the page.
type drawn struct {
	SVG template.HTML
	Alt string
}

// row is a row of the hotspot table.
type row struct {
	granularity.Hotspot
	SelfCPU, SelfWall, RowWork granularity.Distribution
	HasCPU                     bool
	Share                      float64 // of the metric by which the page is sorted
	HasShare                   bool
}

type reason struct{ What, Why string }

type lostReason struct {
	Why    string
	Events uint64
}

func newPage(s *summary.Summary, o Options) (*data, error) {
	if o.Rows <= 0 {
		o.Rows = defaultRows
	}
	p := &data{
		Summary: s, CSS: template.CSS(pageCSS), JS: template.JS(pageJS), CSP: policy(),
		Date: date(s.Started), WorkLabel: s.Metrics[s.Shown()].Title(s.Shown()),
		Fineness: s.Fine, FineWhole: s.FineIsAll,
		Unended: !s.EndSeen(), NeverAtMost: s.NeverAtMost(),
		Whole: s.EndSeen() && s.Lost.Events == 0 && s.Lost.Batches == 0 && s.Lost.Switches == 0 && len(s.Warnings) == 0 && s.Incomplete == nil,
	}
	p.CreationsUnseen = s.NotAvailable[advice.CreationsUnseen] != ""
	p.Steps = granularity.Steps(s.Rows)
	p.Never = s.Tasks.NeverExecuted - p.Steps
	if err := p.draw(s); err != nil {
		return nil, err
	}
	for _, h := range s.Rows[:min(len(s.Rows), o.Rows)] {
		p.Rows = append(p.Rows, newRow(h, s.Metrics[s.Shown()]))
	}
	p.MoreRows = len(s.Rows) - len(p.Rows)
	p.Threads = s.Threads[:min(len(s.Threads), o.Rows)]
	p.MoreThreads = len(s.Threads) - len(p.Threads)
	if v := s.Virtual; v != nil {
		p.VirtualRows = v.List[:min(len(v.List), o.Rows)]
		p.MoreVirtual = len(v.List) - len(p.VirtualRows)
	}
	for _, what := range slices.Sorted(maps.Keys(s.NotAvailable)) {
		p.Absent = append(p.Absent, reason{what, s.NotAvailable[what]})
	}
	for _, why := range slices.Sorted(maps.Keys(s.Lost.ByReason)) {
		p.LostWhy = append(p.LostWhy, lostReason{why, s.Lost.ByReason[why]})
	}
	return p, nil
}

func newRow(h granularity.Hotspot, all granularity.Distribution) row {
	_, cpu := h.Metrics[granularity.SelfCPU]
	share, known := h.WorkShare, h.WorkMeasured()
	if h.By != granularity.Wall {
		d := h.Metrics[h.By]
		share, known = float64(d.Sum)/float64(max(all.Sum, 1)), d.Count > 0
	}
	return row{
		Hotspot: h, HasCPU: cpu, Share: share, HasShare: known,
		SelfCPU: h.Metrics[granularity.SelfCPU], SelfWall: h.Metrics[granularity.SelfWall],
		RowWork: h.Metrics[h.WorkMetric()],
	}
}

func (p *data) draw(s *summary.Summary) error {
	figs, err := Figures(s, nil)
	if err != nil {
		return err
	}
	p.Svg = map[string]drawn{}
	for _, f := range figs {
		svg, err := f.InlineSVG()
		if err != nil {
			return err
		}
		// Safe: package figure draws it and escapes its texts.
		p.Svg[f.Name] = drawn{template.HTML(svg), f.Alt}
	}
	return nil
}

// metricRow is a row of the table of distributions.
type metricRow struct {
	Label        string
	D            granularity.Distribution
	Mean, StdDev string
}

// MetricRows are the distributions over all executions, for the template.
func (p *data) MetricRows() []metricRow { return metricRows(p.Metrics) }

// UnitRows are those over all units of work.
func (p *data) UnitRows() []metricRow {
	if p.InUnits == nil {
		return nil
	}
	return metricRows(p.InUnits.Metrics)
}

func metricRows(metrics granularity.Metrics) []metricRow {
	var rows []metricRow
	for _, m := range slices.Sorted(maps.Keys(metrics)) {
		d := metrics[m]
		rows = append(rows, metricRow{d.Title(m), d, d.Format(units.Ns(d.Mean + 0.5)), d.Format(units.Ns(d.StdDev + 0.5))})
	}
	return rows
}

// originTable lists executors or call sites of units of work.
type originTable struct {
	Head, By string
	Rows     []placeRow
	More     int
}

type placeRow struct {
	row
	Name, Short string
}

// shortSite cuts a call site, class.method:line: first the package, then the beginning
// of the class. The end matters most.
func shortSite(s string) string {
	name := []rune(named(s))
	if len(name) <= nameWidth {
		return string(name)
	}
	name = []rune(advice.WithoutPackage(string(name)))
	if over := len(name) - nameWidth; over > 0 {
		return "…" + string(name[over+1:])
	}
	return string(name)
}

// Origins are the tables by executor and by call site; none without submissions.
func (p *data) Origins() []originTable {
	s := p.Summary
	if p.InUnits != nil {
		s = p.InUnits
	}
	var tables []originTable
	for _, t := range []struct {
		head, by string
		rows     []granularity.Hotspot
	}{{"submitted to", summary.ByExecutor, s.Executors}, {"submitted at", summary.BySite, s.Sites}} {
		if len(t.rows) == 0 {
			continue
		}
		shown := t.rows[:min(len(t.rows), originRows)]
		table := originTable{Head: t.head, By: t.by, More: len(t.rows) - len(shown)}
		for _, h := range shown {
			x := placeRow{row: newRow(h, granularity.Distribution{}), Name: cmp.Or(h.Site, h.Executor)}
			if x.Short = shortSite(x.Name); h.Site == "" {
				x.Short = figure.Shorten(named(x.Name), nameWidth)
			}
			table.Rows = append(table.Rows, x)
		}
		tables = append(tables, table)
	}
	return tables
}

// Drawn is what the drawn distributions count.
func (p *data) Drawn() text.Population {
	if p.InUnits != nil {
		return p.InUnits.Of
	}
	return p.Of
}

// Queues reports whether queue times are known.
func (p *data) Queues() bool {
	return p.InUnits != nil || p.Figures.Waiting != nil
}

// Figure is a figure by its name, for the template.
func (p *data) Figure(name string) drawn { return p.Svg[name] }

// policy is the content security policy: the page loads nothing, sends nothing, and runs
// only its own script. Figures have style attributes, so inline styles are allowed.
func policy() string {
	sum := sha256.Sum256([]byte(pageJS))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"
}

func date(started string) string {
	t, err := time.Parse(time.RFC3339, started)
	if err != nil {
		return ""
	}
	return t.Format("2 January 2006, 15:04:05 UTC")
}
