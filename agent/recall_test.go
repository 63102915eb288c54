package agent

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/agent/instrument"
	"stackagent/agent/plans"
	"stackagent/internal/settings"
	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	"stackagent/jvmti"
)

// requests are the classes of examples as the JVM shows them, with what it knows of their supertypes.
func requests(t testing.TB) []*jvmti.ClassRequest {
	jdk := testjvm.JDKs(t)[0]
	var list []*jvmti.ClassRequest
	for _, example := range []string{"kinds", "shapes", "named", "waits"} {
		dir := testjvm.Compile(t, jdk, filepath.Join("..", "examples", example))
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".class") {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h, err := classfile.ParseHeader(b)
			r := &jvmti.ClassRequest{Name: h.Name, Bytes: b, Mode: jvmti.ModeFull}
			for _, super := range append([]string{h.Super}, h.Interfaces...) {
				kinds := map[string]units.Kinds{"java/lang/Runnable": units.KindRunnable}[super]
				r.Supertypes = append(r.Supertypes, jvmti.Supertype{Name: super, Kinds: kinds, Known: true})
			}
			list = append(list, r)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// testWeaver has numbered some sites before.
func testWeaver(before int, c *recaller) *weaver {
	w := newWeaver(instrument.Options{Asked: settings.Settings{Submissions: true, Wait: 1}}, func(string) ([]byte, error) { return nil, os.ErrNotExist })
	w.sites, w.recaller = new(siteTable), c
	for i := range before {
		w.sites.of(false).Add(instrument.Site{Class: "Before", Line: int32(i)})
	}
	return w
}

func testRecaller(t testing.TB, folder string) *recaller {
	store, err := plans.Open(folder, plans.Version{1})
	if err != nil {
		t.Fatal(err)
	}
	return &recaller{store: store}
}

// A class that an earlier run wove becomes what it would become without that run, byte by byte: with the numbers that
// its sites have in this one.
func TestRecalledClassesAreThoseThatWouldBeWoven(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "plans")
	list := requests(t)
	first := testWeaver(0, testRecaller(t, folder))
	for _, r := range list {
		first.Transform(r)
	}
	first.recaller.finish()

	anew, again := testWeaver(700, nil), testWeaver(700, testRecaller(t, folder))
	recalled := 0
	for _, r := range list {
		want, got := anew.Transform(r), again.Transform(r)
		if !bytes.Equal(want.Woven, got.Woven) || want.Label != got.Label {
			t.Errorf("%s differs from what is woven without plans", r.Name)
		}
		if n, _ := again.recaller.store.Unsaved(); n == 0 && got.Woven != nil {
			recalled++
		}
	}
	if recalled < 20 || again.woven.Load() != anew.woven.Load() || int(anew.woven.Load()) != recalled {
		t.Errorf("%d of %d classes recalled, %d woven without plans", recalled, again.woven.Load(), anew.woven.Load())
	}
	if len(anew.sites.list) < 700+30 {
		t.Errorf("%d sites in these classes, want 30", len(anew.sites.list)-700)
	}
	if len(again.loops) != len(anew.loops) || len(again.sites.list) != len(anew.sites.list) {
		t.Errorf("%d loops and %d sites, want %d and %d", len(again.loops), len(again.sites.list), len(anew.loops), len(anew.sites.list))
	}
	for i, s := range anew.sites.list {
		if again.sites.list[i] != s {
			t.Fatalf("site %d is %+v, want %+v", i+1, again.sites.list[i], s)
		}
	}
}

// What the plan depends on is in the key.
func TestKeysDiffer(t *testing.T) {
	w := testWeaver(0, testRecaller(t, filepath.Join(t.TempDir(), "plans")))
	key := func(change func(in *instrument.Input, r *jvmti.ClassRequest)) plans.Key {
		r := &jvmti.ClassRequest{Name: "A", Bytes: []byte("class"), Supertypes: []jvmti.Supertype{{Name: "B", Known: true}, {Name: "C"}}}
		in := instrument.Input{Class: r.Bytes}
		change(&in, r)
		in.Supers = supertypes{r, w.hierarchy, w.customKind}
		k, ok := w.recaller.key(&in, r)
		if !ok {
			k = plans.Key{}
		}
		return k
	}
	seen := map[plans.Key]int{}
	for i, change := range []func(in *instrument.Input, r *jvmti.ClassRequest){
		func(*instrument.Input, *jvmti.ClassRequest) {},
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Class = []byte("other") },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Mode = instrument.ModeBodies },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Platform = true },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Loaded = true },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.BareSuper = true },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Dispatcher = true },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Fields = []string{"a", "b"} },
		func(in *instrument.Input, _ *jvmti.ClassRequest) { in.Fields = []string{"a b"} },
		func(_ *instrument.Input, r *jvmti.ClassRequest) { r.Supertypes[0].Kinds = units.KindRunnable },
		func(_ *instrument.Input, r *jvmti.ClassRequest) { r.Supertypes[1].Known = true },
		func(_ *instrument.Input, r *jvmti.ClassRequest) { r.Supertypes[0].Name = "D" },
		func(_ *instrument.Input, r *jvmti.ClassRequest) { r.Hidden = true }, // no key
	} {
		k := key(change)
		if before, twice := seen[k]; twice {
			t.Errorf("changes %d and %d have the same key", before, i)
		}
		seen[k] = i
	}
	if _, none := seen[plans.Key{}]; !none {
		t.Error("a hidden class has a key")
	}
}

// Whatever an entry says, a class gets its sites, or is woven anew; nothing panics.
func FuzzKept(f *testing.F) {
	k := kept{executed: true, loopCall: "a.B#c()V", sites: []instrument.Site{{Method: "m", Line: 7}}, places: []place{{at: 3}}, size: 20,
		delta: new(plans.Differ).Append(nil, []byte("the old class"), []byte("the old class is new"))}
	f.Add(k.append(nil))
	f.Fuzz(func(t *testing.T, content []byte) {
		c := testRecaller(t, filepath.Join(t.TempDir(), "plans"))
		key := plans.Key{1}
		c.store.Put(key, content)
		w, ok := c.recall(key, []byte("the old class"), new(siteTable).of(false), "A")
		if ok && w.bytes == nil {
			t.Error("recalled nothing")
		}
	})
}
