package part

import (
	"strings"
	"testing"
)

const figuresJSON = `{"count":2,"sum":30,"mean":15,"stddev":7.0710678,"min":10,"max":20,"p1":10,"p5":10,"p25":10,"p50":10,"p75":20,"p95":20,"p99":20,"p999":20}`

func hotspotsJSON(class, rest string) string {
	return `[{"class":"` + class + `","created":3,"executions":2,"never_executed":1,` + rest + `}]`
}

func TestSameAnswers(t *testing.T) {
	same := hotspotsJSON("A", `"metrics":{"wall_ns":`+figuresJSON+`}`)
	more := hotspotsJSON("A", `"threads":4,"metrics":{"wall_ns":`+strings.Replace(figuresJSON, "7.0710678", "7.0710679", 1)+`,"alloc_bytes":{"count":0}}`)
	for name, c := range map[string]struct {
		other string
		equal bool
	}{
		"itself":               {same, true},
		"another class":        {hotspotsJSON("B", `"metrics":{"wall_ns":`+figuresJSON+`}`), false},
		"another quantile":     {strings.Replace(same, `"p99":20`, `"p99":19`, 1), false},
		"another deviation":    {strings.Replace(same, "7.07", "7.08", 1), false},
		"a quantile less":      {strings.Replace(same, `"p99":20,`, "", 1), false},
		"another count":        {strings.Replace(same, `"created":3`, `"created":4`, 1), false},
		"never executed":       {strings.Replace(same, `"never_executed":1`, `"never_executed":0`, 1), false},
		"no metrics":           {hotspotsJSON("A", `"metrics":{}`), false},
		"nothing":              {"[]", false},
		"two classes":          {same[:len(same)-1] + "," + same[1:], false},
		"an estimate":          {strings.Replace(same, `"p99":20`, `"relative_error":0.0078,"p99":21`, 1), true},
		"a wrong estimate":     {strings.Replace(same, `"p99":20`, `"relative_error":0.0078,"p99":22`, 1), false},
		"an estimated sum":     {strings.Replace(same, `"sum":30`, `"relative_error":0.0078,"sum":31`, 1), false},
		"one that is not here": {strings.Replace(same, "wall_ns", "cpu_ns", 1), false},
	} {
		a, err := parseHotspots(more)
		if err != nil {
			t.Fatal(err)
		}
		b, err := parseHotspots(c.other)
		if err != nil {
			t.Fatal(err)
		}
		if err := sameAnswers(a, b); (err == nil) != c.equal {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseStats(t *testing.T) {
	got, err := parseStats(`{"tasks":{"created":3,"executions":2,"never_executed":1},"metrics":{"wall_ns":` + figuresJSON + `}}`)
	if err != nil || len(got) != 1 || got[0].Created != 3 || got[0].Metrics["wall_ns"]["p75"] != 20 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseStats("no JSON"); err == nil {
		t.Error("no JSON: no error")
	}
}
