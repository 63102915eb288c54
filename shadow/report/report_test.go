package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
	"stackagent/shadow/summary/summarytest"
	"stackagent/shadow/virtual"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func build(t *testing.T, src summary.Source) *summary.Summary {
	t.Helper()
	s, err := summary.BuildFrom(src, summary.Options{Shapes: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func render(t *testing.T, src summary.Source) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSummary(&b, build(t, src), Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestGolden compares whole pages, byte for byte, with the stored ones.
func TestGolden(t *testing.T) {
	for name, src := range map[string]summary.Source{
		"program": summarytest.Program(), "hostile": summarytest.HostileNames(), "empty": summarytest.NewWriter().Src,
	} {
		got := render(t, src)
		path := filepath.Join("testdata", name+".html")
		if *update {
			if err := os.WriteFile(path, got, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("no golden file: run with -update and look at it: %v", err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s; if that is meant, run with -update and look at it", name, path)
		}
	}
}

// TestHidden: the page prints the --task that shows the work of a loop, whatever its class is called.
func TestHidden(t *testing.T) {
	s := build(t, summarytest.Program())
	const line = "--task &#39;com.acme.Loop&lt;script&gt;#handle&#39;"
	if page := string(renderSummary(t, s)); strings.Contains(page, "record with") {
		t.Error("a --task for a session whose work is not hidden")
	}
	s.Hidden = &summary.Hidden{Share: 0.9, Classes: []string{"com.acme.Loop<script>"}, Tasks: []string{"com.acme.Loop<script>#handle"}}
	page := string(renderSummary(t, s))
	if !strings.Contains(page, line) || strings.Contains(page, "Loop<script>") {
		t.Errorf("no %s on the page", line)
	}
}

// TestUnended: the page of a session that broke off does not claim to be whole.
func TestUnended(t *testing.T) {
	const whole = "Nothing was lost: every event"
	missing := []string{"what happened after the last batch is missing", "<b>≤ 43</b><span>never executed", "events lost, not counting the end"}
	src := summarytest.Program()
	src.Manifest.Lost.Batches = 0 // a session that lacks batches is incomplete, too
	page := string(render(t, src))
	for _, text := range missing {
		if strings.Contains(page, text) {
			t.Errorf("ended in order: says %q", text)
		}
	}
	src.Manifest.Ended = store.EndedLostContact
	page = string(render(t, src))
	for _, text := range missing {
		if !strings.Contains(page, text) {
			t.Errorf("lost contact: does not say %q", text)
		}
	}
	if strings.Contains(page, whole) {
		t.Errorf("lost contact: says %q", whole)
	}
}

// TestSelfContained parses the pages as a browser does: no element and no
// attribute may load anything or run a script that is not the page's own.
func TestSelfContained(t *testing.T) {
	allowed := map[string]bool{}
	for _, e := range strings.Fields(`html head meta title style body header h1 h2 h3 p code section div b span ul li figure
		figcaption svg g path text rect input label table thead tbody tr th td details summary dl dt dd em footer script`) {
		allowed[e] = true
	}
	for name, src := range map[string]summary.Source{"program": summarytest.Program(), "hostile": summarytest.HostileNames()} {
		page := render(t, src)
		if !utf8.Valid(page) {
			t.Errorf("%s: not valid UTF-8", name)
		}
		if i := bytes.IndexFunc(page, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == '\u202e' }); i >= 0 {
			t.Errorf("%s: control character %q in the page", name, page[i])
		}
		scripts := 0
		z := html.NewTokenizer(bytes.NewReader(page))
		for {
			if z.Next() == html.ErrorToken {
				if !errors.Is(z.Err(), io.EOF) {
					t.Fatal(z.Err())
				}
				break
			}
			tok := z.Token()
			if tok.Type != html.StartTagToken && tok.Type != html.SelfClosingTagToken {
				continue
			}
			if !allowed[tok.Data] {
				t.Errorf("%s: element <%s> %v in the page", name, tok.Data, tok.Attr)
			}
			if tok.Data == "script" {
				scripts++
			}
			for _, a := range tok.Attr {
				if a.Key == "src" || a.Key == "href" || strings.HasPrefix(a.Key, "on") || strings.Contains(a.Val, "url(") {
					t.Errorf("%s: attribute %s=%q on <%s>", name, a.Key, a.Val, tok.Data)
				}
			}
		}
		if scripts != 1 {
			t.Errorf("%s: %d scripts", name, scripts)
		}
	}
}

// TestPolicyMatchesScript: a policy with another hash would switch sorting off.
func TestPolicyMatchesScript(t *testing.T) {
	page := string(render(t, summarytest.Program()))
	m := regexp.MustCompile(`(?s)<script>(.*)</script>`).FindStringSubmatch(page)
	if m == nil || m[1] != pageJS {
		t.Fatal("the script in the page is not the one that the policy names")
	}
	if !strings.Contains(html.UnescapeString(page), policy()) {
		t.Errorf("policy %q is not in the page", policy())
	}
}

func TestFigures(t *testing.T) {
	s := build(t, summarytest.Program())
	if _, err := Figures(s, []string{"cdf", "nonsense"}); !errors.Is(err, ErrUnknownFigure) {
		t.Errorf("unknown figure: %v", err)
	}
	plain, err := summary.BuildFrom(summarytest.Program(), summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Figures(plain, nil); !errors.Is(err, ErrNoShapes) {
		t.Errorf("no shapes: %v", err)
	}
	files, err := WriteFigures(t.TempDir(), s, nil, nil)
	if err != nil || len(files) != len(FigureNames) {
		t.Fatalf("wrote %v: %v", files, err)
	}
	for i, f := range files {
		if filepath.Base(f) != FigureNames[i]+".svg" {
			t.Errorf("file %s for figure %s", f, FigureNames[i])
		}
	}
}

// failing is a writer on a full disk.
type failing struct{}

var errFull = errors.New("no space")

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestWriteError(t *testing.T) {
	if err := WriteSummary(failing{}, build(t, summarytest.Program()), Options{}); !errors.Is(err, errFull) {
		t.Errorf("error of the writer is lost: %v", err)
	}
}

// TestUnits: a page about units of work says so wherever it says what a figure
// is of; its terms and what is said of summarised executions stay.
func TestUnits(t *testing.T) {
	src := summarytest.Program()
	src.Of = text.UnitsOfWork
	page := render(t, src)
	body, _, _ := bytes.Cut(page, []byte("<h2>What these figures leave out"))
	for _, want := range []string{"<span>units of work</span>", "<h3>Distributions over all units of work</h3>", "<th>units of work</th>", "all units of work (n = ",
		"self CPU time per unit of work", "units of work started / s", "half of the units of work"} {
		if !bytes.Contains(body, []byte(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, line := range bytes.Split(body, []byte("\n")) {
		if i := bytes.Index(line, []byte("xecution")); i >= 0 && !bytes.Contains(line, []byte("summarised")) && !bytes.Contains(line, []byte("executions of such classes are unseen")) {
			t.Errorf("the page says: %s", line[max(0, i-80):min(len(line), i+40)])
		}
	}
}

// TestOrigins: the page shows where units of work were submitted, with the number
// of threads and the time in the queue, by the end of its name where that is long.
func TestOrigins(t *testing.T) {
	s := build(t, summarytest.Program())
	if page := renderSummary(t, s); bytes.Contains(page, []byte("<h2>Where work is submitted")) {
		t.Error("a page without submissions lists call sites")
	}
	queue := granularity.Distribution{Name: granularity.QueueName, Count: 3, P50: 4_000_000, P99: 5_000_000}
	long := "com.acme.some.packages.below." + strings.Repeat("Long", 12) + ".hostile<b>:77"
	for i := range originRows + 2 {
		s.Sites = append(s.Sites, granularity.Hotspot{Site: fmt.Sprintf("com.acme.Main.run:%d", i), Executions: 3, Threads: 2, Metrics: granularity.Metrics{granularity.MetricOf(2, false): queue}})
	}
	s.Sites[0].Site = long
	page := string(renderSummary(t, s))
	_, section, found := strings.Cut(page, "<h2>Where work is submitted")
	section, _, _ = strings.Cut(section, "</section>")
	for _, want := range []string{"<h3>By site</h3>", "…", ".hostile&lt;b&gt;:77</td>", ">com.acme.Main.run:1</td>", "4.00 ms", "5.00 ms", "2 more rows"} {
		if !found || !strings.Contains(section, want) {
			t.Errorf("%q is not in the section: %.2000s", want, section)
		}
	}
	if strings.Contains(section, "By executor") || strings.Count(section, "<tr>") != 1+originRows {
		t.Errorf("rows: %.2000s", section)
	}
}

// TestVirtual: how the virtual threads were scheduled, by class, and what is not known of
// them; nothing where there were none.
func TestVirtual(t *testing.T) {
	s := build(t, summarytest.Program())
	if page := renderSummary(t, s); bytes.Contains(page, []byte("<h2>Virtual threads")) {
		t.Error("a page without virtual threads has a section on them")
	}
	s.Virtual = &virtual.Threads{
		VirtualScheduling: store.VirtualScheduling{Mounts: 4321, Pins: 6, PinnedNs: 120_000_000}, Unrecorded: 3,
		Recorded: virtual.Sums{Threads: 12, ReadyNs: new(units.Ns(7_000_000)), MostReadyNs: 5_000_000},
		List: []virtual.Class{
			{Class: "com.acme.Hostile<b>", Sums: virtual.Sums{Threads: 2, Mounts: 18, MedianMounts: new(uint64(9)), MostMounts: 11, Changes: 8, Pins: 6, PinnedNs: 120_000_000, MostPinnedNs: 60_000_000,
				AwayNs: 31_000_000, ReadyNs: new(units.Ns(7_000_000)), MostReadyNs: 5_000_000}},
			{Class: "com.acme.Together", Sums: virtual.Sums{Threads: 10, Mounts: 1234}},
		},
	}
	for range defaultRows {
		s.Virtual.List = append(s.Virtual.List, virtual.Class{Class: "com.acme.Other", Sums: virtual.Sums{Threads: 1, Mounts: 1}})
	}
	_, section, found := strings.Cut(string(renderSummary(t, s)), "<h2>Virtual threads")
	section, _, _ = strings.Cut(section, "</section>")
	for _, want := range []string{
		"4,321 times", "6 times, 120 ms in total", "for 7.00 ms, a single thread at most for 5.00 ms", "Hostile&lt;b&gt;</td>", `<td data-v="9">9</td>`, `<td data-v="60000000">60.0 ms</td>`,
		`<td data-v="1234">1,234</td><td class="none" data-v="-1">n/a</td>`, `<td data-v="0">0 ns</td><td class="none" data-v="-1">n/a</td><td class="none" data-v="-1">n/a</td>`,
		"2 more classes", "are not in the table",
	} {
		if !found || !strings.Contains(section, want) {
			t.Errorf("%q is not in the section: %.3000s", want, section)
		}
	}
}

func renderSummary(t *testing.T, s *summary.Summary) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSummary(&b, s, Options{}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
