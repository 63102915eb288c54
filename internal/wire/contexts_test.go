package wire

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"stackagent/internal/units"
)

// withContexts is a batch with calling contexts.
func withContexts() *Batch {
	b := empty()
	b.Contexts = Contexts{
		Account: ContextSampling{Every: 100, Taken: 7, Lost: 1, Unseen: 2},
		Frames: []Frame{{ID: 1, Class: "com.acme.Main", Method: "main", File: "Main.java", Line: 12},
			{ID: 2, Class: "com.acme.Main$$Lambda", Method: "run"}},
		Contexts: []Context{{ID: 1, Kind: ContextExecution, Class: 4, Frames: []uint32{2, 0, 1}}, {ID: 2, Kind: ContextSubmission, Class: 4, Cut: true}},
		Sums:     []ContextSum{{ID: 1, Count: 3, Wall: 1 << 40, Measured: 2, CPU: units.Ns(77)}, {ID: 2, Count: 1 << 63}},
	}
	return b
}

func TestContextsThereAndBack(t *testing.T) {
	want := withContexts()
	got, err := Decode(mustEncode(t, want), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Contexts, want.Contexts) || got.Unknown != 0 {
		t.Errorf("%+v, want %+v; %d unknown", got.Contexts, want.Contexts, got.Unknown)
	}
}

func TestContextsAreBounded(t *testing.T) {
	b := withContexts()
	b.Contexts.Contexts[0].Frames = make([]uint32, MaxFrames+1)
	if _, err := Encode(b, nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("a context of %d frames: %v", MaxFrames+1, err)
	}
	b.Contexts.Contexts[0].Frames = make([]uint32, MaxFrames)
	if _, err := Decode(mustEncode(t, b), DefaultLimits()); err != nil {
		t.Errorf("a context of %d frames: %v", MaxFrames, err)
	}
	for name, b := range map[string]*Batch{
		"frames":   {Session: "s", Seq: 1, Contexts: Contexts{Frames: make([]Frame, MaxItems+1)}},
		"contexts": {Session: "s", Seq: 1, Contexts: Contexts{Contexts: make([]Context, MaxItems+1)}},
		"sums":     {Session: "s", Seq: 1, Contexts: Contexts{Sums: make([]ContextSum, MaxItems+1)}},
	} {
		if _, err := Encode(b, nil); !errors.Is(err, ErrTooMany) {
			t.Errorf("too many %s: %v", name, err)
		}
	}
	frames := make([]any, MaxFrames+1)
	for i := range frames {
		frames[i] = i
	}
	for what, msg := range map[string][]byte{
		"more than a context has": envelope(t, keyContexts, []any{[]any{1, 0, 1, false, frames}}),
		"fields":                  envelope(t, keyContextSums, []any{[]any{1, 2}}),
		"kind":                    envelope(t, keyContexts, []any{[]any{1, 300, 1, false, []any{}}}),
		"account of contexts":     envelope(t, keyAccount, []any{1}),
	} {
		if _, err := Decode(msg, DefaultLimits()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v does not say %q", err, what)
		}
	}
}
