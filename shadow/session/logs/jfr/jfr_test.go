package jfr

import (
	"slices"
	"strings"
	"testing"
)

const output = `{
  "recording": {
    "events": [{
      "type": "jdk.ExecuteVMOperation",
      "values": {
        "startTime": "2026-11-26T10:23:00.123456789+01:00",
        "duration": "PT0.000123S",
        "eventThread": {"osName": "VM Thread"},
        "operation": "G1CollectForAllocation",
        "safepoint": true
      }
    },
    {"type": "jdk.ObjectAllocationOutsideTLAB", "values": {"startTime": "2026-11-26T09:23:00.5Z", "allocationSize": 4096}},
    {"type": "jdk.X", "values": {"startTime": "yesterday"}},
    {"type": "jdk.ClassLoad", "values": {"startTime": "2026-11-26T09:23:01Z", "duration": "PT1M2.5S"}}]
  }
}`

func TestParsePrinted(t *testing.T) {
	f, err := parsePrinted(strings.NewReader(output), []string{"jdk.X"})
	if err != nil {
		t.Fatal(err)
	}
	const second = 1_795_684_980_000_000_000 // 09:23:00 UTC
	want := []Event{
		{WallUnixNs: second + 123_456_789, Ns: 123_000, Type: "jdk.ExecuteVMOperation", By: "G1CollectForAllocation"},
		{WallUnixNs: second + 500_000_000, Type: "jdk.ObjectAllocationOutsideTLAB", Bytes: 4096},
		{WallUnixNs: second + 1_000_000_000, Ns: 62_500_000_000, Type: "jdk.ClassLoad"},
	}
	if !slices.Equal(f.Events, want) {
		t.Errorf("%+v", f.Events)
	}
	dir := t.TempDir()
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Read(dir)
	if err != nil || !slices.Equal(again.Events, want) {
		t.Errorf("%+v, %v", again, err)
	}
	for _, bad := range []string{"", "{}", `{"recording": {"events": [`, `{"recording": {"events": [7]}}`} {
		if f, err := parsePrinted(strings.NewReader(bad), nil); err == nil {
			t.Errorf("%q: %+v", bad, f)
		}
	}
}

func TestCheckTypes(t *testing.T) {
	if err := CheckTypes([]string{"jdk.SafepointBegin", "com.acme.My$Event"}); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"", "jdk", "jdk.", "jdk.A,B", `jdk.A"><x`, "jdk.A b", "jdk.*"} {
		if CheckTypes([]string{bad}) == nil {
			t.Errorf("%q is taken for a type", bad)
		}
	}
	if CheckTypes(make([]string, MaxTypes+1)) == nil {
		t.Error("no limit")
	}
}

func FuzzPrinted(f *testing.F) {
	f.Add(output)
	f.Fuzz(func(t *testing.T, s string) {
		if file, err := parsePrinted(strings.NewReader(s), nil); err == nil {
			for _, e := range file.Events {
				if e.Ns < 0 || e.Bytes < 0 || len(e.By) > maxName {
					t.Errorf("%+v", e)
				}
			}
		}
	})
}
