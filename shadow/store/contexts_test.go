package store

import (
	"reflect"
	"testing"
)

// handContexts adds rows of calling contexts, one with no frames among them.
func handContexts(p *Part, i int) {
	id := uint32(i)
	p.Frames = []Frame{{ID: id, Class: "a.Main", Method: "go", File: "Main.java", Line: int32(i)}, {ID: 100 + id}}
	p.Contexts = []Context{{ID: id, Kind: ContextExecution, Class: 1, Frames: []uint32{100 + id, 0, id}}, {ID: 100 + id, Kind: ContextCreation, Cut: true}}
	p.ContextSums = []ContextSum{{ID: id, Count: 3, SelfWallNs: 7, Measured: 2, SelfCPUNs: 5}, {ID: id}}
}

// Lists of frames survive the writing, and the merging of parts.
func TestContextRows(t *testing.T) {
	w := openWriter(t, t.TempDir())
	trickle(t, w, 1, 9)
	var want Part
	for i := 1; i <= 9; i++ {
		var p Part
		handContexts(&p, i)
		want.Frames, want.Contexts, want.ContextSums = append(want.Frames, p.Frames...), append(want.Contexts, p.Contexts...), append(want.ContextSums, p.ContextSums...)
	}
	for _, when := range []string{"written", "merged"} {
		f, err := OpenFolder(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		var got Part
		f.ReadFrames(func(x *Frame) { got.Frames = append(got.Frames, *x) })
		f.ReadContexts(func(x *Context) {
			if len(x.Frames) == 0 {
				x.Frames = nil
			}
			got.Contexts = append(got.Contexts, *x)
		})
		f.ReadContextSums(func(x *ContextSum) { got.ContextSums = append(got.ContextSums, *x) })
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, want %+v", when, got, want)
		}
		mergeAll(t, w)
	}
}
