package units

import (
	"math"
	"testing"
)

func TestFormatNs(t *testing.T) {
	for _, c := range []struct {
		in   Ns
		want string
	}{
		{0, "0 ns"}, {1, "1 ns"}, {999, "999 ns"}, {1000, "1.00 µs"}, {1499, "1.50 µs"},
		{9_994, "9.99 µs"}, {9_996, "10.0 µs"}, {99_960, "100 µs"}, {999_499, "999 µs"},
		{999_600, "1.00 ms"}, {23_400_000, "23.4 ms"}, {75_000_000_000, "75.0 s"},
		{3_600_000_000_000, "3,600 s"}, {19_977_000_000_000, "19,977 s"}, {-1500, "-1.50 µs"}, {NotMeasured, "n/a"},
	} {
		if got := FormatNs(c.in); got != c.want {
			t.Errorf("FormatNs(%d) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestFormatCountBytesPercent(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{FormatCount(0), "0"}, {FormatCount(999), "999"}, {FormatCount(99_999), "99,999"},
		{FormatCount(100_000), "100 k"}, {FormatCount(1_250_000), "1.25 M"}, {FormatCount(-2_000), "-2,000"},
		{FormatCount(999_999), "1.00 M"}, {FormatExact(12_345_678), "12,345,678"}, {FormatExact(-100), "-100"},
		{FormatBytes(512), "512 B"}, {FormatBytes(1536), "1.50 KiB"}, {FormatBytes(1 << 20), "1.00 MiB"},
		{FormatPercent(0), "0 %"}, {FormatPercent(0.0001), "<0.1 %"}, {FormatPercent(0.042), "4.2 %"},
		{FormatPercent(0.5), "50 %"}, {FormatPercent(0.9999), ">99.9 %"}, {FormatPercent(0.996), "99.6 %"},
		{FormatPercent(1), "100 %"}, {FormatPercent(-0.5), "-50 %"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestFormatChangeAndValue(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{FormatChange(0.1), "+10 %"}, {FormatChange(-0.5), "-50 %"}, {FormatChange(0), "0 %"}, {FormatChange(0.00001), "<+0.1 %"}, {FormatChange(-0.00001), ">-0.1 %"}, {FormatChange(-0.9999), "<-99.9 %"}, {FormatChange(0.9999), ">+99.9 %"}, {FormatChange(1), "+100 %"},
		{FormatChange(11), "x 12"}, {FormatChange(9.49), "+949 %"}, {FormatChange(math.NaN()), ""}, {FormatChange(math.Inf(1)), ""},
		{FormatIn("ns", 1500.4), "1.50 µs"}, {FormatIn("bytes", 1536), "1.50 KiB"}, {FormatIn("", 1234), "1,234"}, {FormatIn("", 1234.5), "1,235"},
		{FormatIn("", 2.25), "2.25"}, {FormatIn("", 0.02), "0.02"}, {FormatIn("ns", math.NaN()), ""}, {FormatIn("ns", 1e300), "1e+300"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
