package result

import (
	"math"
	"testing"
)

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 0.1234: "0.123", 1: "1.00", 1.236: "1.24", 12.34: "12.3", 123.4: "123", 999.6: "1,000",
		1234: "1,230", 1234567: "1,230,000", -45.67: "-45.7", -2345: "-2,350", math.NaN(): "?", math.Inf(1): "?", 0.00000012: "0.000000",
	} {
		if got := Number(v); got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", 100_000_000: "100,000,000"} {
		if got := Grouped(n); got != want {
			t.Errorf("Grouped(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestIntervals(t *testing.T) {
	e := Estimate{Value: 1.25, Low: 1.1, High: 1.456, N: 5}
	if got := Interval(e); got != "1.25 [1.10, 1.46]" {
		t.Errorf("Interval: %q", got)
	}
	if got := Percent(e); got != "+25.0 % [+10.0, +45.6]" {
		t.Errorf("Percent: %q", got)
	}
	e = Estimate{Value: 0.95, Low: math.NaN(), High: math.NaN(), N: 1}
	if got := Interval(e) + " " + Percent(e); got != "0.950 -5.0 %" {
		t.Errorf("without an interval: %q", got)
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[float64]string{12: "12.0 B", 2048: "2.00 KiB", 3 << 20: "3.00 MiB", 5 << 40: "5,120 GiB"} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%v) = %q, want %q", n, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	x := Table{Head: []string{"tool", "ns"}}
	x.Add("plain", "1.00")
	x.Add("a|b µ", "123,456 [1, 2]")
	x.Add("short")
	want := "" +
		"| tool   |             ns |\n" +
		"|--------|---------------:|\n" +
		"| plain  |           1.00 |\n" +
		"| a\\|b µ | 123,456 [1, 2] |\n" +
		"| short  |                |\n"
	if got := x.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestReplace(t *testing.T) {
	page := "# Page\n<!-- begin a -->\nold\n<!-- end a -->\ntext\n<!-- begin b -->\n<!-- end b -->\n"
	got, err := Replace(page, "b", "| new |\n")
	want := "# Page\n<!-- begin a -->\nold\n<!-- end a -->\ntext\n<!-- begin b -->\n\n| new |\n\n<!-- end b -->\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	again, err := Replace(got, "b", "| new |")
	if err != nil || again != want {
		t.Errorf("not the same the second time: %v\n%s", err, again)
	}
	for _, part := range []string{"c", ""} {
		if _, err := Replace(page, part, "x"); err == nil {
			t.Errorf("a part %q that is not in the page: no error", part)
		}
	}
	if _, err := Replace("<!-- begin a -->\n", "a", "x"); err == nil {
		t.Error("a part without an end: no error")
	}
}

func TestShareOfOne(t *testing.T) {
	if got := Share(Estimate{Value: 0.0321, Low: 0.03, High: 0.035}); got != "3.21 % [3.00, 3.50]" {
		t.Error(got)
	}
	if got := Share(Estimate{Value: 0.5, Low: math.NaN(), High: math.NaN()}); got != "50.0 %" {
		t.Error(got)
	}
}
