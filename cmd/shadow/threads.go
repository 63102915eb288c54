package main

import (
	"cmp"
	"strconv"

	"github.com/spf13/cobra"

	"stackagent/granularity/bottle"
	"stackagent/hpc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
	"stackagent/shadow/view/table"
)

func newThreads(env Env) *cobra.Command {
	var l listing
	var counted, virtual bool
	var group string
	cmd := &cobra.Command{
		Use:   "threads DIR",
		Short: "The threads of a session with name, kind, times and counters",
		Long: `Lists the Java threads and the JVM's own service threads. With a scheduling
record (shadow run --switches) it tells where each thread's time went: running,
runnable (waiting for a CPU), in a futex (locks, monitors, park), I/O, asleep, or
blocked for another reason; switches are its own, because it blocked, + those that
were forced on it (preempted). A role tells more than a kind: C1 or C2, carrier of virtual
threads, agent (the profiler's own).

Counters (switches, faults, migrations, hardware events) were read from outside
by shadow run; a cell is empty where nothing was measured, and an estimate of a
multiplexed counter begins with ~. The table has them with --counters; csv and
json always do. Times and counters are those of the operating system's thread:
where it carried several Java threads one after the other, they stand with one.

With --virtual it tells how virtual threads were scheduled: how often they got onto
a carrier (of one thread: median and most), how often onto another than before, how
long they waited for one when they were ready to go on, and how often and how long
they parked without leaving it (pinned). json and csv without --virtual have the same
for each virtual thread that was recorded by itself.`,
		Example: "  shadow threads /tmp/s\n  shadow threads /tmp/s --group pool\n  shadow threads /tmp/s --virtual\n  shadow threads /tmp/s --format csv",
		Args:    oneSession,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := cmp.Or(l.check(), checkGroup(group)); err != nil {
				return err
			}
			s, err := open(env, args[0])
			if err != nil {
				return err
			}
			if virtual {
				return l.listVirtual(s)
			}
			counters, err := hpc.ReadFile(s.Dir)
			if err != nil {
				env.note("%s", text.OneLine(err.Error())) // the rest of the table stands without it
			}
			before := len(s.Warnings)
			sum, err := condense(env, s, summary.Options{Brief: true})
			if err != nil {
				return err
			}
			noteFound(env, s, before)
			rows, times := addTimes(env, s, threadRows(sum.Threads, counters))
			if err := l.addTurns(s, rows, sum.Threads); err != nil {
				return err
			}
			rows = groupThreads(rows, bottle.By(group))
			if counted {
				times = nil
			}
			return l.printThreads(rows, counters, times)
		},
	}
	l.addTo(cmd, env, true, "table", "json", "csv")
	cmd.Flags().BoolVar(&counted, "counters", false, "the table shows counters in place of times")
	cmd.Flags().BoolVar(&virtual, "virtual", false, "how virtual threads were scheduled, a row for each class of their bodies")
	cmd.Flags().StringVar(&group, "group", "thread", "a row for each thread|pool|kind")
	return cmd
}

// threadRow is a line of shadow threads; nil where nothing was measured.
type threadRow struct {
	Thread     string             `json:"thread"` // name#id, or name@OS id of a service thread
	Kind       string             `json:"kind"`
	Class      string             `json:"class"`
	Group      string             `json:"group"`
	JavaID     *int64             `json:"java_id"`
	OSID       *int64             `json:"os_id"`
	Daemon     bool               `json:"daemon"`
	Virtual    bool               `json:"virtual"`
	StartNs    *int64             `json:"start_ns"` // null: before the agent looked
	EndNs      *int64             `json:"end_ns"`   // null: alive at the end
	CPUNs      *int64             `json:"cpu_ns"`   // of the whole thread
	TaskCPUNs  *int64             `json:"task_cpu_ns"`
	Executions int64              `json:"executions"` // stored, summarised ones included
	Summarised int64              `json:"summarised"` // of these, not recorded one by one
	Produced   *producedRow       `json:"produced"`   // null: the agent did not tell
	Counters   map[string]counted `json:"counters"`   // event -> count, from outside
	Role       string             `json:"role"`
	Pool       string             `json:"pool"`
	Times      *threadTimes       `json:"times"`      // null: not observed
	Threads    int                `json:"threads"`    // that the row stands for
	Scheduling *turns             `json:"scheduling"` // of a virtual thread; null: not recorded by itself
	key        threadKey
	grouped    bool // by --group
}

// producedRow is what the agent says that the thread produced, whether it
// reached the session or not.
type producedRow struct {
	Executions uint64 `json:"executions"`
	Creations  uint64 `json:"creations"`
	Lost       uint64 `json:"lost"` // of both
}

func producedBy(t *session.Thread) *producedRow {
	if !t.Counted {
		return nil
	}
	return &producedRow{t.Produced.Executions, t.Produced.Creations, t.Lost}
}

// counted is a count, or an estimate where the kernel multiplexed.
type counted struct {
	Value     float64 `json:"value"`
	Estimated bool    `json:"estimated"`
}

func threadRows(threads []summary.ThreadRow, file *hpc.File) []threadRow {
	byTID := map[int32]*hpc.ThreadTotals{}
	if file != nil {
		for i := range file.Threads {
			byTID[int32(file.Threads[i].TID)] = &file.Threads[i]
		}
	}
	first := firstOfOSThread(threads)
	rows := make([]threadRow, len(threads))
	for i, t := range threads {
		rows[i] = threadRow{
			Thread: t.Label(), Threads: 1, Kind: t.Kind, Class: t.Class, Group: t.Group, Daemon: t.Daemon, Virtual: t.Virtual,
			JavaID: unlessZero(t.JavaID), OSID: unlessZero(int64(t.OSID)),
			StartNs: unlessZero(int64(t.StartNs)), EndNs: unlessZero(int64(t.EndNs)),
			CPUNs: ifMeasured(t.CPU), TaskCPUNs: ifMeasured(t.SelfCPU), Executions: t.RunExecutions,
			Summarised: t.RunSummarised, Produced: producedBy(&t.Thread),
			Counters: map[string]counted{}, Role: t.Role(), Pool: t.Pool(), key: keyOf(&t.Thread),
		}
		if totals := byTID[t.OSID]; totals != nil && first[t.OSID] == i {
			for e, n := range totals.Counts {
				rows[i].Counters[e.String()] = countOf(n)
			}
		}
	}
	return rows
}

// firstOfOSThread is, for each thread of the operating system, the row of the
// thread that it carried first.
func firstOfOSThread(threads []summary.ThreadRow) map[int32]int {
	first := map[int32]int{}
	for i, t := range threads {
		if t.OSID == 0 {
			continue
		}
		if j, ok := first[t.OSID]; !ok || t.StartNs < threads[j].StartNs || t.StartNs == threads[j].StartNs && t.JavaID < threads[j].JavaID {
			first[t.OSID] = i
		}
	}
	return first
}

func countOf(t *hpc.Total) counted {
	if t.Multiplexed {
		return counted{Value: t.Estimate, Estimated: true}
	}
	return counted{Value: float64(t.Counted)}
}

func unlessZero(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func ifMeasured(n units.Ns) *int64 {
	if !n.Measured() {
		return nil
	}
	v := int64(n)
	return &v
}

func (l *listing) printThreads(rows []threadRow, file *hpc.File, times *session.Times) error {
	total := len(rows)
	if n := l.limit(); n > 0 && n < total {
		rows = rows[:n]
	}
	switch l.format {
	case "json":
		return writeJSON(l.env.Out, rows)
	case "csv":
		return l.threadsCSV(rows)
	}
	if times != nil {
		return l.printTimes(rows, total, times)
	}
	t := table.New(table.Column{Title: "thread", Flexible: true}, table.Column{Title: "kind"}, right("CPU"), right("in tasks"),
		right("executions"), right("lost"), right("switches"), right("faults"), right("migrations"), right("instructions"))
	for _, r := range rows {
		t.Row(r.title(), r.Kind, nsCell(r.CPUNs), nsCell(r.TaskCPUNs), units.FormatExact(r.Executions), r.lost(),
			r.count(hpc.ContextSwitches), r.count(hpc.PageFaults), r.count(hpc.CPUMigrations), r.count(hpc.Instructions))
	}
	if err := l.render(t, total); err != nil {
		return err
	}
	l.noteCounters(file)
	return nil
}

// noteCounters says why cells of counters are empty.
func (l *listing) noteCounters(file *hpc.File) {
	if file == nil {
		l.env.note("no counters from outside in this session")
		return
	}
	for _, e := range hpc.AllEvents() {
		if why := file.NotAvailable[e]; why != "" {
			l.env.note("%s not available: %s", e, clean(why))
		}
	}
	if why := file.Partial(); why != "" {
		l.env.note("%s", clean(why))
	}
}

// lost is empty where nobody counted.
func (r *threadRow) lost() string {
	if r.Produced == nil {
		return ""
	}
	return units.FormatExact(int64(r.Produced.Lost))
}

func nsCell(n *int64) string {
	if n == nil {
		return ""
	}
	return units.FormatNs(units.Ns(*n))
}

func (r *threadRow) count(e hpc.Event) string {
	c, ok := r.Counters[e.String()]
	switch {
	case !ok:
		return ""
	case c.Estimated:
		return "~" + units.FormatExact(int64(c.Value))
	}
	return units.FormatExact(int64(c.Value))
}

func (l *listing) threadsCSV(rows []threadRow) error {
	header := []string{"thread", "kind", "class", "group", "java_id", "os_id", "daemon", "virtual", "start_ns", "end_ns", "cpu_ns", "task_cpu_ns", "executions", "summarised", "produced_executions", "produced_creations", "lost"}
	for _, e := range hpc.AllEvents() {
		header = append(header, e.String(), e.String()+"_estimated")
	}
	header = append(append(append(header, "role", "pool"), timesHeader()...), append([]string{"threads"}, turnsHeader...)...)
	cells := make([][]string, len(rows))
	for i, r := range rows {
		row := []string{csvName(r.Thread), r.Kind, csvName(r.Class), csvName(r.Group), intCell(r.JavaID), intCell(r.OSID),
			strconv.FormatBool(r.Daemon), strconv.FormatBool(r.Virtual), intCell(r.StartNs), intCell(r.EndNs),
			intCell(r.CPUNs), intCell(r.TaskCPUNs), strconv.FormatInt(r.Executions, 10), strconv.FormatInt(r.Summarised, 10)}
		row = append(row, r.Produced.cells()...)
		for _, e := range hpc.AllEvents() {
			if c, ok := r.Counters[e.String()]; ok {
				row = append(row, strconv.FormatFloat(c.Value, 'f', 0, 64), strconv.FormatBool(c.Estimated))
			} else {
				row = append(row, "", "")
			}
		}
		cells[i] = append(append(append(row, r.Role, csvName(r.Pool)), r.Times.cells()...), append([]string{strconv.Itoa(r.Threads)}, r.Scheduling.cells()...)...)
	}
	return writeCSV(l.env.Out, header, cells)
}

func (p *producedRow) cells() []string {
	if p == nil {
		return []string{"", "", ""}
	}
	return []string{uintCell(&p.Executions), uintCell(&p.Creations), uintCell(&p.Lost)}
}

func intCell(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}
