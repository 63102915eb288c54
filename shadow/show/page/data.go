// Package page is the front end of reports and of the live page: the data of a session as
// the page takes it, and the files that show it.
package page

//go:generate go test . -run TestTypes -update

// Data is what the page shows of one session. It is a block of JSON in the page; the page
// filters and sums it up in the browser. All times are nanoseconds since the session's
// start. front/src/data.d.ts is generated from these types.
//
// The session is divided into slots of equal length. Whatever follows the brushed window
// has values by slot that add up: a window begins and ends at the edge of a slot.
type Data struct {
	Session  Session   `json:"session"`
	Verdict  Verdict   `json:"verdict"`
	Slots    int       `json:"slots"`
	SlotNs   float64   `json:"slot_ns"`
	Bands    Bands     `json:"bands"`
	Cube     Cube      `json:"cube"`
	Slices   Slices    `json:"slices"`
	Lanes    *Lanes    `json:"lanes"`    // null: see Missing["lanes"]
	Bottle   *Bottle   `json:"bottle"`   // null: see Missing["bottle"]
	Stack    *Stack    `json:"stack"`    // null: see Missing["stack"]
	Waits    *Waits    `json:"waits"`    // null: see Missing["waits"]
	Contexts *Contexts `json:"contexts"` // null: see Missing["contexts"]
	Vertical *Vertical `json:"vertical"` // null: see Missing["vertical"]
	Virtual  []Virtual `json:"virtual"`  // virtual threads by class
	// Compared is the comparison with another session, or of two sets of runs; null: there is none.
	Compared *Compared `json:"compared"`
	// Missing maps what is not available to the reason, a part of a sentence.
	Missing map[string]string `json:"missing"`
}

// Compared is what shadow diff says.
type Compared struct {
	Sentence string        `json:"sentence"`
	Cautions []string      `json:"cautions"`
	A        string        `json:"a"` // the sessions of each side
	B        string        `json:"b"`
	Rows     []ComparedRow `json:"rows"`
}

// ComparedRow is a figure on both sides, in words.
type ComparedRow struct {
	By        string `json:"by"`
	Name      string `json:"name"` // "": that of the row before
	Figure    string `json:"figure"`
	A         string `json:"a"`
	B         string `json:"b"`
	Change    string `json:"change"`
	Interval  string `json:"interval"` // of the change, at 95 %; "": not known
	Effect    string `json:"effect"`
	Verdict   string `json:"verdict"`
	Different bool   `json:"different"`
}

// Session is the session's line at the top and what is folded below the verdict.
type Session struct {
	Name       string  `json:"name"`
	Folder     string  `json:"folder"` // under `shadow serve`: its name in addresses; else ""
	Program    string  `json:"program"`
	JVM        string  `json:"jvm"`
	Collector  string  `json:"collector"`
	Host       string  `json:"host"`
	PID        int     `json:"pid"`
	Labels     string  `json:"labels"` // service, version and environment; "": none
	CPUs       int     `json:"cpus"`
	Started    string  `json:"started"` // RFC 3339, "" if not known
	DurationNs float64 `json:"duration_ns"`
	Running    bool    `json:"running"` // a report of a session that had not ended
	// Account says in a sentence whether anything is missing; Losses has what.
	Account  string   `json:"account"`
	Losses   []string `json:"losses"`
	Facts    []string `json:"facts"`
	Cautions []string `json:"cautions"`
	// NeverAtMost: what is missing may have executed some of the tasks that count as never executed.
	NeverAtMost bool    `json:"never_at_most"`
	Counts      []Count `json:"counts"`   // created, executed, never executed, threads, ...
	Refusals    []Count `json:"refusals"` // what was not instrumented, by reason
}

// Count is a labelled number.
type Count struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Note  string  `json:"note"`
}

// Verdict is the first screen.
type Verdict struct {
	Sentence string `json:"sentence"`
	Note     string `json:"note"`  // what else belongs beside it; "": nothing
	Cards    []Card `json:"cards"` // at most three, the most to gain first
	More     []Card `json:"more"`  // the advice that got no card
}

// Card is an advice.
type Card struct {
	Rule     string `json:"rule"`
	Title    string `json:"title"`    // what is wrong
	Evidence string `json:"evidence"` // the figures
	Remedy   string `json:"remedy"`   // what to do
	Gain     string `json:"gain"`     // the most that it saves, with the assumptions; or why that is not known
	// GainShare is the predicted gain as a share of the duration; negative: not known.
	GainShare float64 `json:"gain_share"`
	Bars      []Bar   `json:"bars"` // its small picture; none: no picture
	Show      Link    `json:"show"`
}

// Bar is a bar of a card's picture.
type Bar struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Text  string  `json:"text"` // Value with its unit
	Kind  string  `json:"kind"` // a state or part that has a colour, or ""
}

// Link leads to a view of the page: #view=class&name=...&from=...&to=...
type Link struct {
	View string  `json:"view"` // overview, class, executor, site, thread, waits, bottle, stack, contexts, lanes, gc
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"` // 0: no window
}

// Bands are the figures over time. A slot has a whole number of buckets.
type Bands struct {
	Buckets  int      `json:"buckets"`
	BucketNs float64  `json:"bucket_ns"`
	CPU      []Series `json:"cpu"`     // mean CPUs by kind of thread; none: see Missing["cpu_band"]
	Started  []Series `json:"started"` // units of work (or executions) by class, the last one "others"
	Finished Series   `json:"finished"`
	Running  []Series `json:"running"` // mean number running, by class
	Queued   []Series `json:"queued"`  // mean number waiting, by executor; none: see Missing["queue"]
	Pauses   Pauses   `json:"pauses"`
}

// Series has a value for each bucket.
type Series struct {
	Key    string          `json:"key"` // kind, class or executor; "": all others
	Label  string          `json:"label"`
	Values Column[float32] `json:"values"`
}

// Pauses are those of the collector.
type Pauses struct {
	From  Column[float64] `json:"from"`
	Ns    Column[float32] `json:"ns"`
	Count int             `json:"count"` // Count above len(From): the longest are here
	// BySlot is the time stopped, overlaps counted once.
	BySlot Column[float64] `json:"by_slot"`
}

// Cube has the tasks by class, executor, call site, thread and slot. A row of the cube is
// one combination; cells have what fell into a slot, by the time it ended. All tables,
// distributions and filters of the page are sums over cells.
type Cube struct {
	One  string `json:"one"` // "execution" or "unit of work"
	Many string `json:"many"`
	// Measures are what has sums and buckets, in the order of Cells.Measures. The first is
	// the work by which tables are sorted; one has the key "wall", one "queue" if known.
	Measures  []Measure `json:"measures"`
	Classes   []Name    `json:"classes"`
	Executors []Name    `json:"executors"`
	Sites     []Name    `json:"sites"`
	Threads   []Name    `json:"threads"`
	Rows      Rows      `json:"rows"`
	Cells     Cells     `json:"cells"`
	// Folded is the number of combinations put together as "others", as there were too many.
	Folded int `json:"folded"`
}

// Measure is a quantity of a task.
type Measure struct {
	Key   string `json:"key"` // self_cpu, self_wall, wall, queue, alloc...
	Label string `json:"label"`
	Unit  string `json:"unit"` // ns, bytes or ""
	Doc   string `json:"doc"`
}

// Name is a row of a table: a class, executor, call site or thread.
type Name struct {
	Name     string `json:"name"`
	Short    string `json:"short"`
	Kind     string `json:"kind"`     // of a thread: application, main, gc, compiler, vm, other
	Platform bool   `json:"platform"` // of the JDK or a library below the program: hidden at first
	// What is known of the whole session only; negative: not known.
	Created float64 `json:"created"`
	Never   float64 `json:"never"`  // created and never executed
	CPUNs   float64 `json:"cpu_ns"` // of a thread: all of its CPU time
	// Exact has, by measure, the distribution over the whole session; null: not computed.
	Exact []*Distribution `json:"exact"`
}

// Distribution has the quantiles of a measure.
type Distribution struct {
	Count  float64 `json:"count"`
	Sum    float64 `json:"sum"`
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"stddev"`
	Min    float64 `json:"min"`
	P25    float64 `json:"p25"`
	P50    float64 `json:"p50"`
	P75    float64 `json:"p75"`
	P95    float64 `json:"p95"`
	P99    float64 `json:"p99"`
	P999   float64 `json:"p999"`
	Max    float64 `json:"max"`
	Error  float64 `json:"error"` // the greatest relative error of the quantiles; 0: exact
}

// Rows are the combinations: indexes in the lists of names. NoName: not known, or others.
type Rows struct {
	Class    Column[uint16] `json:"class"`
	Executor Column[uint16] `json:"executor"`
	Site     Column[uint16] `json:"site"`
	Thread   Column[uint16] `json:"thread"`
}

// NoName is the index of what has no name.
const NoName = 0xffff

// Cells are sorted by row and slot.
type Cells struct {
	Row      Column[uint32]  `json:"row"`
	Slot     Column[uint16]  `json:"slot"`
	Count    Column[uint32]  `json:"count"`
	Threw    Column[uint32]  `json:"threw"`
	Measures []CellsMeasured `json:"measures"`
}

// CellsMeasured has a measure of all cells.
type CellsMeasured struct {
	Known Column[uint32]  `json:"known"` // tasks with a value
	Sum   Column[float64] `json:"sum"`
	Max   Column[float64] `json:"max"`
	// The cell's buckets are those from End[cell-1] to End[cell]: Bucket and Times. Bucket i
	// holds the values v with i = BucketOf(v); its middle is within 3.2 % of them.
	End    Column[uint32] `json:"end"`
	Bucket Column[uint16] `json:"bucket"`
	Times  Column[uint32] `json:"times"`
}

// Slices are single tasks, by start: all of them, or the longest of each class and a random
// sample of the others.
type Slices struct {
	Total    float64         `json:"total"` // of the session
	All      bool            `json:"all"`
	Start    Column[float64] `json:"start"`
	Ns       Column[float32] `json:"ns"`
	Queue    Column[float32] `json:"queue"`  // negative: not known
	CPU      Column[float32] `json:"cpu"`    // negative: not known
	Thread   Column[uint16]  `json:"thread"` // in Cube.Threads
	Class    Column[uint16]  `json:"class"`
	Executor Column[uint16]  `json:"executor"`
	Site     Column[uint16]  `json:"site"`
	Depth    Column[uint8]   `json:"depth"`   // nested in so many others that are shown
	Sampled  Column[uint8]   `json:"sampled"` // 1: of the random sample, 0: kept because of its length
}

// Lanes say what threads did: for each lane, state and bucket of Bands a share of time,
// 255 being all of it.
type Lanes struct {
	Lanes  []Lane        `json:"lanes"`
	States []Label       `json:"states"` // running, runnable, lock, io, sleep, gc, ...
	Shares Column[uint8] `json:"shares"` // [lane][state][bucket]
}

// Lane is a thread, or several threads that share a lane.
type Lane struct {
	Label  string `json:"label"`
	Kind   string `json:"kind"`
	Thread int    `json:"thread"` // in Cube.Threads; -1: it has none
	Count  int    `json:"count"`  // threads
}

// Label names a key.
type Label struct {
	Key   string `json:"key"`
	Label string `json:"label"`
	Doc   string `json:"doc"`
}

// Bottle has the boxes of the bottle graph by slot: both times add up over slots. The height
// of a box is Height over the length of the window, its width Running over Height
// (Du Bois et al., Bottle Graphs).
type Bottle struct {
	Threads []Lane          `json:"threads"`
	Slot    Column[uint16]  `json:"slot"`
	Thread  Column[uint16]  `json:"thread"`
	Running Column[float64] `json:"running"`
	Height  Column[float64] `json:"height"`
}

// Stack has the account of the speedup stack by slot: what became of N threads' time.
type Stack struct {
	N          int             `json:"n"`
	Components []Label         `json:"components"` // base (at work), gc, sequential, synchronization, imbalance, io, oversubscription, rest
	Values     Column[float64] `json:"values"`     // [slot][component], nanoseconds of thread time; N times SlotNs in all
	Notes      []string        `json:"notes"`
}

// Waits are what tasks and threads waited for.
type Waits struct {
	Parts []Label `json:"parts"` // cpu, runnable, lock, io, sleep, carrier, gc, other, idle, not_known
	// Cells: where the wall time of the tasks of a class went. With BySlot false all cells
	// have slot 0 and are of the whole session.
	BySlot bool            `json:"by_slot"`
	Class  Column[uint16]  `json:"class"`
	Slot   Column[uint16]  `json:"slot"`
	Parted Column[float64] `json:"parted"` // [cell][part]
	Rows   []WaitRow       `json:"rows"`   // of the whole session, the longest waited first
	More   int             `json:"more"`   // rows that are not here
}

// WaitRow is what was waited for.
type WaitRow struct {
	For      string  `json:"for"`   // monitor, synchronizer, io, sleep, carrier, gc, queue, other
	Class    string  `json:"class"` // of the object
	Site     string  `json:"site"`
	Waits    float64 `json:"waits"`
	WaitedNs float64 `json:"waited_ns"`
	MaxNs    float64 `json:"max_ns"`
	EndedBy  string  `json:"ended_by"`
	HeldBy   string  `json:"held_by"`
}

// Contexts are stacks for flame graphs, of the whole session.
type Contexts struct {
	Every  float64        `json:"every"` // one event in so many was looked at
	Frames []string       `json:"frames"`
	Stacks []ContextStack `json:"stacks"`
	More   int            `json:"more"` // stacks that are not here
}

// ContextStack is a stack; Frames are indexes, outermost first.
type ContextStack struct {
	Kind   string  `json:"kind"`  // creation, submission, execution
	Class  int     `json:"class"` // in Cube.Classes; -1: none
	Frames []int   `json:"frames"`
	Count  float64 `json:"count"`
	CPUNs  float64 `json:"cpu_ns"`
	WallNs float64 `json:"wall_ns"`
}

// Virtual sums up the virtual threads of a class; negative: not known.
type Virtual struct {
	Class       string  `json:"class"`
	Threads     float64 `json:"threads"`
	Mounts      float64 `json:"mounts"`
	Changes     float64 `json:"changes"` // mounts on another carrier than before
	AwayNs      float64 `json:"away_ns"`
	ReadyNs     float64 `json:"ready_ns"` // waited for a carrier
	MostReadyNs float64 `json:"most_ready_ns"`
	Pins        float64 `json:"pins"`
	PinnedNs    float64 `json:"pinned_ns"`
}

// Vertical is the vertical profile.
type Vertical struct {
	Monitors  []Monitor `json:"monitors"`  // that changed, by layer from the program down, then by name
	Unchanged int       `json:"unchanged"` // monitors that did not
	Omitted   int       `json:"omitted"`   // monitors that changed, too, and have no room here
	Note      string    `json:"note"`      // what else there would be; "": nothing
	Samples   int       `json:"samples"`   // by which phases were found and explained
	SampleNs  float64   `json:"sample_ns"` // their mean length
	Phases    []Phase   `json:"phases"`    // of the throughput, that differ from its usual level
}

// Monitor has a value for each bucket: the growth of a counter per second, the mean of a level.
type Monitor struct {
	Name  string `json:"name"`
	Layer string `json:"layer"`
	Unit  string `json:"unit"`
	Doc   string `json:"doc"`
	// A value is Low + (High - Low) * Values / 65534; 65535: it was not measured then.
	Low    float64        `json:"low"`
	High   float64        `json:"high"`
	Values Column[uint16] `json:"values"`
}

// Phase is a time in which the throughput differs from its usual level.
type Phase struct {
	From     float64 `json:"from"`
	To       float64 `json:"to"`
	Similar  []Range `json:"similar"` // in which it changed in the same way
	Sentence string  `json:"sentence"`
	Causes   []Cause `json:"causes"` // the most likely one first
}

// Range is a part of the time.
type Range struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
}

// Cause is a monitor that changed with the throughput.
type Cause struct {
	Monitor string   `json:"monitor"`
	Layer   string   `json:"layer"`
	Before  string   `json:"before"` // with units
	During  string   `json:"during"`
	Change  string   `json:"change"` // in words
	Lag     string   `json:"lag"`    // "": not clear
	P       float64  `json:"p"`      // corrected for the number of series tried
	Group   []string `json:"group"`  // monitors that moved together with it
}
