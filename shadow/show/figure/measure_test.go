package figure

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/text"
)

var written = regexp.MustCompile(`>([^<]+)</text>`)

// TestSaysWhatIsDrawn: the words of a figure are of what it is of, and its
// values in their unit.
func TestSaysWhatIsDrawn(t *testing.T) {
	shapes := []Shape{shapeOf(text.UnitsOfWork.All(), true, valuesOf(2048, 3_000_000)), shapeOf("a", false, valuesOf(2048, 3_000_000))}
	total, classes := someSeries()
	size := Measure{"self alloc bytes", text.UnitsOfWork, "bytes"}
	count := Measure{"self instructions", text.UnitsOfWork, ""}
	times := Time("self CPU time", text.UnitsOfWork)
	for _, c := range []struct {
		name      string
		f         *Figure
		has, none []string
	}{
		{"cdf", CDF(times, shapes), []string{"share of units of work", "self CPU time per unit of work", "all units of work", "ms"}, []string{"execution"}},
		{"box", Box(times, shapes), []string{"self CPU time per unit of work", "ms"}, []string{"execution"}},
		{"tasks", TasksOverTime(TimesOf(1e9, 13e9), text.UnitsOfWork, total, classes), []string{"units of work", "other classes"}, []string{"execution"}},
		{"queue", QueuesOverTime(TimesOf(1e9, 13e9), total, classes, granularity.Fates{Cancelled: 3}), []string{"waiting at once", "other executors"}, []string{"never run", "classes"}},
		{"queue left", QueuesOverTime(TimesOf(1e9, 13e9), total, classes, granularity.Fates{NeverRun: 4321}), []string{"4,321 more were submitted and never run"}, []string{"at least"}},
		{"queue left, some not known", QueuesOverTime(TimesOf(1e9, 13e9), total, classes, granularity.Fates{NeverRun: 7, NotKnown: 1}), []string{"at least 7 more were"}, nil},
		{"queue never served", QueuesOverTime(TimesOf(1e9, 13e9), nil, nil, granularity.Fates{NeverRun: 7}), []string{"no submissions", "7 more were submitted"}, nil},
		{"nothing", CDF(times, nil), []string{"no units of work"}, []string{"execution"}},
		{"bytes", CDF(size, shapes), []string{"KiB", "100 kB", "self alloc bytes per unit of work"}, []string{" ns", " µs", " ms"}},
		{"counts", Box(count, shapes), []string{"100 k", "self instructions per unit of work"}, []string{" ns", " µs", " ms", "kB"}},
		{"executions", CDF(Time("wall time", text.Executions), shapes[1:]), []string{"share of executions", "wall time per execution"}, []string{"unit"}},
	} {
		var b bytes.Buffer
		if err := c.f.Write(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		text := c.f.Title + "\n" + c.f.Alt
		for _, m := range written.FindAllStringSubmatch(b.String(), -1) {
			text += "\n" + m[1]
		}
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s: does not say %q", c.name, want)
			}
		}
		for _, bad := range c.none {
			if strings.Contains(text, bad) {
				t.Errorf("%s: says %q", c.name, bad)
			}
		}
	}
}
