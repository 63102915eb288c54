package browser_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"stackagent/internal/testbrowser"
	"stackagent/internal/testjvm"
)

// record profiles an example.
func record(t *testing.T, example string, args ...string) testjvm.Profile {
	t.Helper()
	jdks := testjvm.JDKs(t)
	cmd := testjvm.Example(t, example).Command(t, jdks[len(jdks)-1])
	cmd.Args = args
	return cmd.Session(t)
}

// reportOf writes the report of sessions and returns its address.
func reportOf(t *testing.T, p testjvm.Profile, others ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.html")
	p.Shadow(t, append([]string{"report", p.Dir, "-o", file}, others...)...)
	address, err := testbrowser.File(file)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// TestReport looks at the report of a shop whose tax pool has one thread: everything that a person does with it.
func TestReport(t *testing.T) {
	p := record(t, "orders", "60")
	address := reportOf(t, p)
	for name, test := range map[string]func(*testing.T, testjvm.Profile, string){
		"first screen": testFirstScreen, "counts": testCounts, "brush": testBrush, "sort": testSort, "filter": testFilter, "search": testSearch,
		"drill down": testDrill, "dark": testDark, "print": testPrint, "sizes": testSizes, "keyboard": testKeyboard, "views": testViews,
	} {
		t.Run(name, func(t *testing.T) {
			testjvm.Shared(t)
			test(t, p, address)
		})
	}
}

func testFirstScreen(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	b.onlyItself(address)
	b.shows("view", "overview")
	if s := eval[string](b, text(sentence)); len(s) < 20 || !strings.HasSuffix(s, ".") {
		t.Errorf("the sentence is %q", s)
	}
	if title := eval[string](b, "document.title"); !strings.Contains(title, "Main") {
		t.Errorf("the title is %q", title)
	}
	b.accessible("first screen")
	b.fits()
	b.shoot("report-first-screen")
}

// text is the text of an element, as an expression.
func text(selector string) string {
	return "(document.querySelector(" + quoted(selector) + ")?.innerText ?? '')"
}

// row is a line of a table: its name and the cells by the column's key.
type row struct {
	Key   string            `json:"key"`
	Cells map[string]string `json:"cells"`
}

// count is the number in the column count.
func (r row) count(t *testing.T) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.ReplaceAll(r.Cells["count"], ",", ""), 10, 64)
	if err != nil {
		t.Errorf("%s: count %q", r.Key, r.Cells["count"])
	}
	return n
}

// table reads what a table shows.
func (t tab) table(selector string) []row {
	t.Helper()
	return eval[[]row](t, `(() => {
		const table = document.querySelector(`+quoted(selector)+`);
		const keys = [...table.querySelectorAll("thead button[data-sort]")].map(b => b.dataset.sort);
		return [...table.querySelectorAll("tbody tr[data-key]")].map(tr =>
			({key: tr.dataset.key, cells: Object.fromEntries([...tr.children].map((cell, i) => [keys[i], cell.innerText.trim()]))}));
	})()`)
}

// total is the sum of the counts.
func (t tab) total(selector string) (n int64) {
	t.Helper()
	for _, r := range t.table(selector) {
		n += r.count(t.T)
	}
	return n
}

// The counts of the page are those of `shadow hotspots --units`.
func testCounts(t *testing.T, p testjvm.Profile, address string) {
	b := open(t, address, laptop)
	b.click("#platform")
	want, got := map[string]int64{}, map[string]int64{}
	for _, r := range p.Units(t) {
		if r.Executions > 0 {
			want[r.Class] = r.Executions
		}
	}
	b.until("document.querySelectorAll(" + quoted(rowsOf(classes)) + ").length >= " + strconv.Itoa(len(want)))
	for _, r := range b.table(classes) {
		if n := r.count(t); n > 0 { // others were created only
			got[r.Key] = n
		}
	}
	for class, n := range want {
		if got[class] != n {
			t.Errorf("%s: %d on the page, %d units of work in shadow hotspots", class, got[class], n)
		}
	}
	if len(want) == 0 || len(got) != len(want) {
		t.Errorf("%v on the page, %v in shadow hotspots", got, want)
	}
}

// A range that is dragged over narrows the tables: what is before it, in it and after it is all there is.
func testBrush(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	before, all := b.table(classes), b.total(classes)
	b.must(b.Drag(brush, 0.3, 0.6, 12))
	b.until("document.querySelector(" + quoted(chip("window")) + ")")
	from, err1 := strconv.ParseFloat(b.state("from"), 64)
	to, err2 := strconv.ParseFloat(b.state("to"), 64)
	if err1 != nil || err2 != nil || from <= 0 || to <= from {
		t.Errorf("a window from %q to %q", b.state("from"), b.state("to"))
	}
	b.shoot("report-brushed")
	b.accessible("a window")
	parts := []int64{b.total(classes)}
	for _, window := range []string{fmt.Sprintf("#from=0&to=%.0f", from), fmt.Sprintf("#from=%.0f&to=1e15", to)} {
		parts = append(parts, open(t, address+window, laptop).total(classes))
	}
	if sum := parts[0] + parts[1] + parts[2]; sum != all || slices.Max(parts) == all {
		t.Errorf("%d units of work in the window, %d before it and %d after it, %d in all", parts[0], parts[1], parts[2], all)
	}
	fresh := open(t, b.address(), laptop)
	if there, here := fresh.table(classes), b.table(classes); !slices.EqualFunc(there, here, same) {
		t.Errorf("the link shows %v, not %v", there, here)
	}
	b.click(clearing)
	b.shows("to", "")
	if after := b.table(classes); !slices.EqualFunc(after, before, same) {
		t.Errorf("without the window %v, before it %v", after, before)
	}
}

func same(a, b row) bool { return a.Key == b.Key && fmt.Sprint(a.Cells) == fmt.Sprint(b.Cells) }

func testSort(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	for _, want := range []string{"descending", "ascending"} {
		b.click(sorter(classes, "count"))
		b.until(`document.querySelector(` + quoted(sorter(classes, "count")) + `).closest("th").ariaSort === "` + want + `"`)
		var counts []int64
		for _, r := range b.table(classes) {
			counts = append(counts, r.count(t))
		}
		if want == "descending" {
			slices.Reverse(counts)
		}
		if len(counts) < 2 || !slices.IsSorted(counts) {
			t.Errorf("%s: %v", want, counts)
		}
	}
}

// A row that is clicked filters the other tables.
func testFilter(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	all := b.total(executors)
	rows := b.table(classes)
	first := rows[len(rows)-1]
	b.click(rowsOf(classes) + `[data-key=` + quoted(first.Key) + `] td:nth-child(3)`)
	b.until("document.querySelector(" + quoted(chip("class")) + ")")
	if n := b.total(executors); n != first.count(t) || n >= all {
		t.Errorf("%d by executor with the filter, %d without; the class has %d", n, all, first.count(t))
	}
	b.shoot("report-filtered")
	b.click(chip("class"))
	b.until("!document.querySelector(" + quoted(chip("class")) + ")")
	if n := b.total(executors); n != all {
		t.Errorf("%d by executor without the filter, %d before", n, all)
	}
	b.click(classFind)
	b.must(b.Type("thenApply"))
	b.until("[...document.querySelectorAll(" + quoted(rowsOf(classes)) + ")].every(r => r.innerText.includes('thenApply'))")
	if n := len(b.table(classes)); n == 0 || n >= len(rows) {
		t.Errorf("%d classes are found by name, of %d", n, len(rows))
	}
}

// The search leads to a class.
func testSearch(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	b.must(b.Type("/"))
	b.until("document.activeElement.id === 'search'")
	b.must(b.Type("thenApply"))
	b.until("document.querySelectorAll('#search-results [data-i]').length")
	b.accessible("search")
	b.shoot("report-search")
	b.must(b.Type(kb.Enter))
	b.until("document.documentElement.dataset.name.includes('thenApply')")
	b.must(b.Back())
	b.shows("view", "overview")
}

// From a class to one of its slowest tasks on its lane; each step has an address, and the browser's button leads back.
func testDrill(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	name := b.table(classes)[0].Key
	b.click(rowsOf(classes) + " a")
	b.shows("view", "class")
	b.shows("name", name)
	b.until("document.querySelector('" + slowest + " a')")
	b.accessible("a class")
	b.boxesOfTukey()
	b.fits()
	b.shoot("report-class")
	class := eval[string](b, text(drill))
	fresh := open(t, b.address(), laptop)
	fresh.until("document.querySelector('" + slowest + " a')")
	if there := eval[string](fresh, text(drill)); there != class || !strings.Contains(there, "Main") {
		t.Errorf("the link shows\n%s\nnot\n%s", there, class)
	}
	b.click(slowest + " a")
	b.shows("view", "lanes")
	b.until("document.querySelector('" + task + "')")
	b.accessible("a task")
	b.shoot("report-task")
	one := eval[string](b, text(task))
	fresh = open(t, b.address(), laptop)
	fresh.until("document.querySelector('" + task + "')")
	if there := eval[string](fresh, text(task)); there != one || one == "" {
		t.Errorf("the link shows the task\n%s\nnot\n%s", there, one)
	}
	b.must(b.Back())
	b.shows("view", "class")
	b.shows("name", name)
	b.must(b.Back())
	b.shows("view", "overview")
}

// boxesOfTukey: the whiskers of a box end within 1.5 interquartile ranges of it, and what is beyond is drawn.
func (t tab) boxesOfTukey() {
	t.Helper()
	label := eval[string](t, "document.querySelector('#distribution .plot').getAttribute('aria-label')")
	cells := eval[[]string](t, "[...document.querySelectorAll('#distribution .legend-table tbody tr')[0].children].map(c => c.innerText)")
	dots := eval[int](t, "document.querySelectorAll('#distribution svg.whole circle').length") - 1 // the mean is one
	var low, high string
	var beyond int
	part := label[max(strings.Index(label, "whiskers"), 0):]
	if i := strings.Index(part, ","); i < 0 {
		t.Fatalf("no whiskers in %q", label)
	} else if ends := strings.Split(strings.TrimPrefix(part[:i], "whiskers from "), " to "); len(ends) == 2 {
		low, high = ends[0], ends[1]
		if _, err := fmt.Sscanf(strings.ReplaceAll(part[i:], ",", ""), "%d beyond", &beyond); err != nil {
			t.Errorf("%q: %v", label, err)
		}
	}
	ns := func(s string) float64 {
		d, err := time.ParseDuration(strings.Map(func(r rune) rune {
			if r == ' ' || r == '~' {
				return -1
			}
			return r
		}, s))
		if err != nil {
			t.Errorf("%q in %q: %v", s, label, err)
		}
		return float64(d)
	}
	q1, q3, most := ns(cells[3]), ns(cells[5]), ns(cells[7])
	const rough = 1.04 // of a bucket, and of three digits
	if from, to := q1-1.5*(q3-q1), q3+1.5*(q3-q1); ns(low)*rough < from || ns(high) > to*rough || most > to*rough && beyond == 0 {
		t.Errorf("%s; quartiles %s and %s: whiskers go from %g to %g at most", label, cells[3], cells[5], from, to)
	}
	if beyond > 0 != (dots > 0) {
		t.Errorf("%s: %d dots", label, dots)
	}
}

// TestCards: a defect gets its card, and what the card shows is what it is about.
func TestCards(t *testing.T) {
	testjvm.Shared(t)
	const defect = "never-executed"
	address := reportOf(t, record(t, "advice", defect))
	b := open(t, address, laptop)
	if rules := eval[[]string](b, "[...document.querySelectorAll('.card')].map(c => c.dataset.rule)"); !slices.Contains(rules, defect) {
		t.Errorf("cards %q, none for %s", rules, defect)
	}
	b.accessible("cards")
	b.shoot("cards")
	links := eval[[]string](b, "[...document.querySelectorAll('.card .show')].map(a => a.getAttribute('href'))")
	for i, link := range links {
		view := open(t, address+link, laptop)
		if view.state("view") == "overview" && view.state("name") == "" && view.state("to") == "" {
			t.Errorf("%s shows nothing in particular", link)
		}
		if missing := eval[[]string](view, "[...document.querySelectorAll('#view [data-missing]:not([data-missing=contexts])')].map(e => e.innerText)"); len(missing) > 0 {
			t.Errorf("%s shows %q", link, missing)
		}
		view.shoot(fmt.Sprintf("cards-shown-%d", i+1))
	}
}

// background is the colour of the page.
const background = "getComputedStyle(document.documentElement).backgroundColor"

func testDark(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	light := eval[string](b, background)
	b.must(b.Media("", "prefers-color-scheme=dark", "prefers-reduced-motion=reduce"))
	b.until(background + " !== " + quoted(light))
	b.accessible("dark")
	b.shoot("report-dark")
	dark := eval[string](b, background)
	b.click(theme)
	b.until(background + " !== " + quoted(dark))
	b.must(b.Media("", "forced-colors=active"))
	b.accessible("forced colours")
}

func testPrint(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	b.must(b.Media("print", "prefers-color-scheme=dark"))
	if paper := eval[string](b, background); paper != "rgb(255, 255, 255)" && paper != "rgba(0, 0, 0, 0)" {
		t.Errorf("paper is %s", paper)
	}
	if shown := eval[[]string](b, `["#search", "nav", "#theme"].filter(s => document.querySelector(s)?.checkVisibility())`); len(shown) > 0 {
		t.Errorf("%v are printed", shown)
	}
	b.shoot("report-print")
	pdf, err := b.PDF()
	b.must(err)
	if !strings.HasPrefix(string(pdf), "%PDF") || len(pdf) < 10_000 {
		t.Errorf("a PDF of %d bytes", len(pdf))
	}
	if err := os.WriteFile(filepath.Join(testjvm.Root(t), "build", "screenshots", "report.pdf"), pdf, 0o644); err != nil {
		t.Error(err)
	}
}

// The page can be read on a telephone and on a wall.
func testSizes(t *testing.T, _ testjvm.Profile, address string) {
	for name, size := range map[string][2]int{"phone": phone, "wall": wall} {
		b := open(t, address, size)
		b.fits()
		b.shoot("report-" + name)
		b.must(b.Script("document.querySelectorAll('details').forEach(d => d.open = true)"))
		b.fits()
		b.accessible(name)
		b.shoot("report-" + name + "-unfolded")
		for _, view := range viewsOf(b) {
			b.load(address + "#view=" + view)
			b.shows("view", view)
			b.fits()
			if name == "phone" || full() {
				b.shoot("report-" + name + "-" + view)
			}
		}
	}
}

// viewsOf are the views that the page has.
func viewsOf(b tab) []string {
	b.Helper()
	views := eval[[]string](b, "[...document.querySelectorAll('nav a[data-view]')].map(a => a.dataset.view)")
	if len(views) < 5 {
		b.Fatalf("views %v", views)
	}
	return views
}

// Each view shows something, or says why it does not.
func testViews(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	for _, view := range viewsOf(b) {
		b.click(tabOf(view))
		b.shows("view", view)
		if words := eval[string](b, text("#view")); view != "lanes" && len(words) < 20 {
			t.Errorf("%s shows %q", view, words)
		}
		b.accessible(view)
		b.fits()
		b.shoot("report-view-" + view)
		// They follow a window as well.
		b.must(b.Drag(brush, 0.3, 0.5, 5))
		b.until("document.documentElement.dataset.to")
		b.must(b.Type(kb.Escape))
		b.shows("to", "")
	}
}

// focused describes what has the focus.
const focused = `(e => e.tagName + "#" + e.id + "." + e.className + " " + (e.dataset.key ?? e.ariaLabel ?? e.innerText ?? "").slice(0, 30))(document.activeElement)`

// tabTo presses the tab key until a condition holds.
func (t tab) tabTo(condition string) {
	t.Helper()
	var passed []string
	for range 150 {
		t.must(t.Type(kb.Tab))
		if eval[bool](t, "!!("+condition+")") {
			return
		}
		passed = append(passed, eval[string](t, focused))
	}
	t.Fatalf("the tab key does not lead to %s, but to\n%s", condition, strings.Join(passed, "\n"))
}

// All can be done without a mouse, and what has the focus can be seen.
func testKeyboard(t *testing.T, _ testjvm.Profile, address string) {
	b := open(t, address, laptop)
	b.must(b.Type(kb.Tab))
	if !eval[bool](b, "document.activeElement.matches('.skip') && document.activeElement.getBoundingClientRect().top >= 0") {
		t.Errorf("the first is not the link past the head, but %s", eval[string](b, focused))
	}
	b.tabTo("document.activeElement.matches('#brush .handle')")
	b.must(b.Type(strings.Repeat(kb.ArrowRight, 3)))
	b.until("Number(document.documentElement.dataset.from) > 0")
	outline := eval[string](b, "(s => s.outlineStyle + s.outlineWidth + s.boxShadow)(getComputedStyle(document.activeElement))")
	if strings.HasPrefix(outline, "none") && strings.HasSuffix(outline, "none") {
		t.Errorf("the focus cannot be seen: %s", outline)
	}
	b.shoot("report-keyboard")
	b.must(b.Type(kb.Escape))
	b.shows("to", "")
	b.tabTo("document.activeElement.matches(" + quoted(sorter(classes, "count")) + ")")
	b.must(b.Type(kb.Enter))
	b.until(`document.activeElement.closest("th")?.ariaSort === "descending"`)
	b.tabTo("document.activeElement.matches(" + quoted(rowsOf(classes)) + ")")
	b.must(b.Type(kb.ArrowDown))
	key := eval[string](b, "document.activeElement.dataset.key")
	b.must(b.Type(kb.Enter))
	b.shows("view", "class")
	b.shows("name", key)
	b.must(b.Type("?"))
	b.until("document.querySelector('dialog[open]')")
	b.accessible("help")
	b.shoot("report-help")
	b.must(b.Type(kb.Escape))
	b.until("!document.querySelector('dialog[open]')")
}

// TestCompare looks at two sessions in one file.
func TestCompare(t *testing.T) {
	testjvm.Shared(t)
	a, b := record(t, "orders", "20"), record(t, "orders", "40")
	page := open(t, reportOf(t, a, b.Dir), laptop) // it opens with the comparison
	page.until("document.querySelector('" + compare + "')")
	page.accessible("comparison")
	page.fits()
	page.shoot("compare")
	words := eval[string](page, text(compare))
	if !strings.Contains(words, "thenApply") {
		t.Errorf("the comparison does not name the classes of both:\n%s", words)
	}
	if says := eval[string](page, text("#compared")); !strings.Contains(says, "One run each: no interval.") || strings.Contains(says, "different") {
		t.Errorf("of one run each, the comparison says:\n%s", says)
	}
}
