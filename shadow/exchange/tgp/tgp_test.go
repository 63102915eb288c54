package tgp

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// traceText is a trace as tgp writes it: a pool's thread that runs a future and
// the callable in it, twice; a task of main; one never executed.
var traceText = strings.Join(Columns, ",") + `
77,java.lang.Thread,0,1,1,java.lang.Thread,main,5,java.lang.Thread,pool-1-thread-1,-1,null,1000,9000,50,T,T,F,F,T,F,F
20,java.util.concurrent.FutureTask,77,1,1,java.lang.Thread,main,5,java.lang.Thread,pool-1-thread-1,31,java.util.concurrent.ThreadPoolExecutor,2000,4000,10,F,T,F,F,T,F,F
21,com.acme.Job,20,1,1,java.lang.Thread,main,5,java.lang.Thread,pool-1-thread-1,-1,null,2100,3900,700,F,F,T,F,F,T,F
20,java.util.concurrent.FutureTask,77,2,1,java.lang.Thread,main,5,java.lang.Thread,pool-1-thread-1,31,java.util.concurrent.ThreadPoolExecutor,5000,6000,20,F,T,F,F,T,F,F
30,com.acme.Inline,0,1,1,java.lang.Thread,main,1,java.lang.Thread,main,-1,null,1500,1600,5,F,T,F,F,T,F,F
31,com.acme.Never,-1,0,1,java.lang.Thread,main,-1,null,null,-1,null,-1,-1,-1,F,T,F,F,F,F,F
32,com.acme.Endless,0,1,1,java.lang.Thread,main,1,java.lang.Thread,main,-1,null,7000,-1,-1,F,T,F,F,T,F,F
`

func readTrace(t *testing.T, text string) *Trace {
	t.Helper()
	tr, err := ReadTasks(strings.NewReader(text), TasksFile, 0)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func writeTrace(t *testing.T, tr *Trace) string {
	t.Helper()
	var b bytes.Buffer
	w := NewTaskWriter(&b)
	for i := range tr.Tasks {
		if err := w.Write(tr.Row(&tr.Tasks[i])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRoundTrip(t *testing.T) {
	tr := readTrace(t, traceText)
	if got := writeTrace(t, tr); got != traceText {
		t.Errorf("written again:\n%s", got)
	}
	if x := tr.Tasks[2]; x.ID != 21 || x.Outer != 20 || x.Entry != 2100 || x.Exit != 3900 || x.Granularity != 700 || x.Executor != None ||
		tr.Threads[x.Runner] != (Thread{ID: 5, Class: "java.lang.Thread", Name: "pool-1-thread-1"}) || x.Flags != IsCallable|RanCall {
		t.Errorf("read %+v", x)
	}
}

// TestBuild holds the session made of a trace against the trace.
func TestBuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "imported")
	notes, err := Build(dir, Input{Trace: readTrace(t, traceText), Pauses: []Pause{{Start: 3000, End: 3100}}, Metric: "bytecodes"})
	if err != nil || len(notes) != 0 {
		t.Fatal(notes, err)
	}
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Warnings) > 0 || len(s.Pauses) != 1 || s.Duration() != 8000 {
		t.Errorf("warnings %v, pauses %v, duration %d", s.Warnings, s.Pauses, s.Duration())
	}
	type row struct {
		id, outer     uint64
		execution     int32
		wall, self    units.Ns
		running, made bool
	}
	got := map[row]bool{}
	err = s.Tasks(func(x *session.Task) error {
		got[row{x.TaskID, x.OuterTaskID, x.Execution, x.WallNs, x.SelfWallNs, x.Running, x.CreatorThread != nil && x.CreatorThread.Name == "main"}] = true
		return nil
	})
	na := units.NotMeasured
	want := map[row]bool{
		{77, 0, 1, 8000, 5000, false, true}: true, {20, 77, 1, 2000, 200, false, true}: true, {21, 20, 1, 1800, 1800, false, true}: true,
		{20, 77, 2, 1000, 1000, false, true}: true, {30, 0, 1, 100, 100, false, true}: true,
		{31, 0, 0, na, na, false, true}: true, {32, 0, 1, na, na, true, true}: true,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v: got %+v", err, got)
	}
	exported := exportAgain(t, s)
	if exported != traceText {
		t.Errorf("exported:\n%s", exported)
	}
	_, sum, err := s.Counts()
	if err != nil || sum.Created != 6 || sum.Executions != 6 || sum.NeverExecuted != 1 || sum.Running != 1 || sum.Distinct != 5 {
		t.Errorf("counts %+v, %v", sum, err)
	}
	if _, err := Build(dir, Input{Trace: readTrace(t, traceText)}); err == nil {
		t.Error("a folder that holds a session was taken")
	}
}

// TestIdentity: sessions of one trace are one run, whatever their folders are called; another trace is another run.
func TestIdentity(t *testing.T) {
	root, ids := t.TempDir(), map[string]store.Identity{}
	for name, change := range map[string]int64{"a": 0, "b": 0, "other": 1} {
		tr := readTrace(t, traceText)
		tr.Tasks[len(tr.Tasks)-1].Entry += change
		dir := filepath.Join(root, name)
		if _, err := Build(dir, Input{Trace: tr, Metric: "bytecodes"}); err != nil {
			t.Fatal(err)
		}
		id, err := store.IdentityOf(dir, false)
		if err != nil {
			t.Fatal(err)
		}
		ids[name] = id
	}
	if ids["a"] != ids["b"] || ids["a"] == ids["other"] {
		t.Errorf("%v", ids)
	}
}

// exportAgain writes the rows of a session, in the order of the trace above.
func exportAgain(t *testing.T, s *session.Session) string {
	t.Helper()
	c := NewCollector(0)
	err := s.Tasks(func(x *session.Task) error {
		work := units.NotMeasured
		if x.Execution > 0 {
			work = units.Ns(x.SelfExtra[0])
		}
		return c.Write(FromTask(x, work))
	})
	if err != nil {
		t.Fatal(err)
	}
	tr := c.Trace
	order := []int64{1000, 2000, 2100, 5000, 1500, -1, 7000}
	slices.SortFunc(tr.Tasks, func(a, b Task) int {
		return cmp.Compare(slices.Index(order, a.Entry), slices.Index(order, b.Entry))
	})
	return writeTrace(t, &tr)
}

// TestBuildDoubts: what cannot be nested as it says becomes outermost, with a note.
func TestBuildDoubts(t *testing.T) {
	row := func(id, outer, thread, from, to string) string {
		return id + ",C," + outer + ",1,1,c,n," + thread + ",c,n,-1,null," + from + "," + to + ",5,F,T,F,F,T,F,F\n"
	}
	text := strings.Join(Columns, ",") + "\n" +
		row("1", "0", "1", "0", "100") + row("2", "1", "2", "10", "20") + row("3", "1", "1", "90", "110") + row("4", "9", "1", "30", "40") +
		row("5", "6", "3", "0", "50") + row("6", "5", "3", "0", "50")
	dir := filepath.Join(t.TempDir(), "doubts")
	notes, err := Build(dir, Input{Trace: readTrace(t, text)})
	if err != nil || len(notes) != 3 {
		t.Fatal(notes, err)
	}
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var self units.Ns
	err = s.Tasks(func(x *session.Task) error { self += x.SelfWallNs; return nil })
	if want := units.Ns(100 + 10 + 20 + 10 + 50); err != nil || self != want {
		t.Errorf("self times sum to %d, want %d: %v", self, want, err)
	}
}

func TestMalformed(t *testing.T) {
	lines := strings.SplitAfter(traceText, "\n")
	with := func(line int, from, to string) string {
		out := append([]string(nil), lines...)
		if !strings.Contains(out[line-1], from) {
			t.Fatalf("%q is not in line %d", from, line)
		}
		out[line-1] = strings.Replace(out[line-1], from, to, 1)
		return strings.Join(out, "")
	}
	for name, c := range map[string]struct {
		text         string
		line, column int
	}{
		"empty":          {"", 1, 0},
		"header":         {with(1, "ID", "Timestamp"), 1, 1},
		"few columns":    {with(3, ",F,T,F,F,T,F,F", ""), 3, 153},                 // the last that there is
		"many columns":   {with(3, ",F,T,F,F,T,F,F", ",F,T,F,F,T,F,F,F"), 3, 170}, // the first that there should not be
		"id":             {with(3, "20,", "x20,"), 3, 1},
		"negative id":    {with(3, "20,", "-20,"), 3, 1},
		"too large":      {with(3, "20,", "99999999999999999999,"), 3, 1},
		"flag":           {with(4, "F,F,T,F,F,T,F\n", "F,F,T,F,F,T,maybe\n"), 4, 115},
		"end before":     {with(4, "3900", "2000"), 4, 94},
		"never ended":    {with(7, "-1,-1,-1,F", "-1,5,-1,F"), 7, 69},
		"outer of none":  {with(7, "Never,-1", "Never,3"), 7, 19},
		"no thread":      {with(6, "main,1,java.lang.Thread,main", "main,-1,null,null"), 6, 48},
		"execution 0":    {with(6, "Inline,0,1", "Inline,0,0"), 6, 22},
		"bare quote":     {with(4, "com.acme", `com."acme`), 4, 8},
		"open quote":     {with(4, "com.acme", `"com.acme`), 8, 106},
		"a line between": {with(4, "21,", "\n\n\n,"), 7, 1},
	} {
		_, err := ReadTasks(strings.NewReader(c.text), TasksFile, 0)
		var f *FormatError
		if !errors.As(err, &f) || f.Line != c.line || f.Column != c.column {
			t.Errorf("%s: %v, want an error at %d:%d", name, err, c.line, c.column)
		}
	}
}

// TestForms: the forms in which tgp's own test traces have what is in the trace above.
func TestForms(t *testing.T) {
	want := readTrace(t, traceText)
	lines := strings.SplitAfter(traceText, "\n")
	for name, c := range map[string]struct{ from, to string }{
		"other names":   {lines[0], "ID,Class,Outer ID,Exec N,Creation T ID,Creation T class,Creation T name,Exec T ID,Exec T class,Exec T name,Executor ID,Executor class,Entry Time,Exit Time,Granualrity,Is T,Is R,Is C,Is FJT,Is run rexec,Is call(),Is exec()\n"},
		"small letters": {",F,T,F,F,T,F,F", ",f,t,f,f,t,f,f"},
	} {
		text := strings.ReplaceAll(traceText, c.from, c.to)
		if text == traceText {
			t.Fatalf("%s: %q is not in the trace", name, c.from)
		}
		if got := readTrace(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	row := func(outer, executor string) string {
		return strings.Join(Columns, ",") + "\n1,C," + outer + ",1,1,c,n,1,c,n," + executor + ",E,10,20,5,F,T,F,F,T,F,F\n"
	}
	if x := readTrace(t, row("0", "ei")); x.Tasks[0].Executor == None || x.Executors[0].Class != "E" {
		t.Errorf("submitted to an executor with a word for its id: %+v", x)
	}
	if x := readTrace(t, row("-1", "-1")); len(x.Tasks) != 1 || x.Tasks[0].Executed() || x.Tasks[0].Entry != None {
		t.Errorf("a row with times and the outer task -1 counts as an execution: %+v", x)
	}
	for _, text := range []string{"Timestamp,cs\n7602317094530463.95,3\n", "Timestamp ,cs\n7602317094530463.95,3\n"} {
		if all, err := ReadSwitches(strings.NewReader(text), CSFile); err != nil || len(all) != 1 || all[0].At != 7602317094530464 {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
	for _, header := range []string{"Timestamp,CPU usr,CPU sys", "Timestamp (ns),CPU (user),CPU (system)"} {
		if all, err := ReadCPU(strings.NewReader(header+"\n5,10,20\n"), CPUFile); err != nil || len(all) != 1 || all[0].Kernel != 20 {
			t.Errorf("%q: %v, %v", header, all, err)
		}
	}
}

func TestLimits(t *testing.T) {
	if _, err := ReadTasks(strings.NewReader(traceText), TasksFile, 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("more rows than allowed: %v", err)
	}
	long := strings.Join(Columns, ",") + "\n\"" + strings.Repeat("x\n", maxRecordBytes)
	if _, err := ReadTasks(strings.NewReader(long), TasksFile, 0); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a row without end: %v", err)
	}
}

func TestSamples(t *testing.T) {
	gc, err := ReadGC(strings.NewReader("Start GC,10\nEnd GC,20\nStart GC,30\n"), GCFile)
	if err != nil || !reflect.DeepEqual(gc, []Pause{{Start: 10, End: 20}}) {
		t.Errorf("gc %v %v", gc, err)
	}
	cs, err := ReadSwitches(strings.NewReader("Timestamp (ns),Context Switches\n7602317094530472,5\n7602317094530473.0,72432.5\n"), CSFile)
	if err != nil || !reflect.DeepEqual(cs, []Switches{{At: 7602317094530472, Count: 5}, {At: 7602317094530473, Count: 72432.5}}) {
		t.Errorf("cs %v %v", cs, err)
	}
	cpu, err := ReadCPU(strings.NewReader("Timestamp (ns),CPU utilization (user),CPU utilization (kernel)\n5,50.0,8.3\n"), CPUFile)
	if err != nil || !reflect.DeepEqual(cpu, []Utilisation{{At: 5, User: 50, Kernel: 8.3}}) {
		t.Errorf("cpu %v %v", cpu, err)
	}
	for name, err := range map[string]error{
		"end first":   second(ReadGC(strings.NewReader("End GC,1\n"), "f")),
		"two starts":  second(ReadGC(strings.NewReader("Start GC,1\nStart GC,2\n"), "f")),
		"ends before": second(ReadGC(strings.NewReader("Start GC,5\nEnd GC,2\n"), "f")),
		"over 100 %":  second(ReadCPU(strings.NewReader("Timestamp (ns),CPU utilization (user),CPU utilization (kernel)\n5,101,0\n"), "f")),
		"not a time":  second(ReadSwitches(strings.NewReader("Timestamp (ns),Context Switches\nNaN,5\n"), "f")),
		"negative":    second(ReadSwitches(strings.NewReader("Timestamp (ns),Context Switches\n1,-5\n"), "f")),
	} {
		var f *FormatError
		if !errors.As(err, &f) || f.Line == 0 || f.Column == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// TestFlags: the method is set only where there is no doubt.
func TestFlags(t *testing.T) {
	for k, want := range map[units.Kinds]Flags{
		units.KindRunnable: IsRunnable | RanRun,
		units.KindRunnable | units.KindThread | units.KindJDK:   IsRunnable | IsThread | RanRun,
		units.KindCallable | units.KindHidden:                   IsCallable | RanCall,
		units.KindForkJoin:                                      IsForkJoin | RanExec,
		units.KindForkJoin | units.KindRunnable:                 IsForkJoin | IsRunnable,
		units.KindRunnable | units.KindCallable | units.KindJDK: IsRunnable | IsCallable,
	} {
		if got := FlagsOf(k); got != want {
			t.Errorf("%v: %b, want %b", k, got, want)
		}
	}
}
