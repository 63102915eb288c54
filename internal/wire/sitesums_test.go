package wire

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

// withSiteSums is a batch with the call sites of summarised tasks.
func withSiteSums() *Batch {
	b := empty()
	b.Sites = []Site{{ID: 7, Class: "com.acme.Main", Method: "main", File: "Main.java", Line: 12}}
	b.SiteSums = []SiteSum{
		{Class: 1, Thread: 2, Kind: SiteCreation, Site: 7, Count: 300}, {Class: 1, Thread: 2, Flags: SummaryVirtual, Kind: SiteRejectedInner, Count: 1},
		{Class: math.MaxUint32, Thread: math.MaxUint32, Flags: math.MaxUint16, Kind: math.MaxUint8, Site: math.MaxUint32, Count: math.MaxUint64},
	}
	return b
}

func TestSiteSumsThereAndBack(t *testing.T) {
	want := withSiteSums()
	got, err := Decode(mustEncode(t, want), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.SiteSums, want.SiteSums) || got.Unknown != 0 {
		t.Errorf("%+v, want %+v; %d unknown", got.SiteSums, want.SiteSums, got.Unknown)
	}
}

func TestSiteSumsAreBounded(t *testing.T) {
	if _, err := Encode(&Batch{Session: "s", Seq: 1, SiteSums: make([]SiteSum, MaxItems+1)}, nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
	for what, sum := range map[string][]any{
		"too short": {1, 2, 0, 0, 7}, "class too large": {1 << 32, 2, 0, 0, 7, 1}, "site too large": {1, 2, 0, 0, 1 << 32, 1},
		"flags too large": {1, 2, 1 << 16, 0, 7, 1}, "kind too large": {1, 2, 0, 1 << 8, 7, 1}, "count below 0": {1, 2, 0, 0, 7, -1},
	} {
		if b, err := Decode(envelope(t, keySiteSums, []any{sum}), DefaultLimits()); err == nil {
			t.Errorf("%s: read as %+v", what, b.SiteSums)
		}
	}
	// A later version may say more of each.
	b, err := Decode(envelope(t, keySiteSums, []any{[]any{1, 2, 0, 0, 7, 9, "more"}}), DefaultLimits())
	if err != nil || len(b.SiteSums) != 1 || b.SiteSums[0].Count != 9 {
		t.Errorf("with a further field: %v", err)
	}
}

func TestSiteSumsGolden(t *testing.T) {
	golden(t, "testdata/site_sums.hex", mustEncode(t, withSiteSums()))
}
