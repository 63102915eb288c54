package main

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"stackagent/hpc/sched"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/view/table"
)

// threadTimes are where a thread's time went, by the scheduling record.
type threadTimes struct {
	OSID        int32    `json:"os_id"`
	RunningNs   units.Ns `json:"running_ns"`
	RunnableNs  units.Ns `json:"runnable_ns"` // waiting for a CPU
	FutexNs     units.Ns `json:"futex_ns"`
	IONs        units.Ns `json:"io_ns"`
	SleepingNs  units.Ns `json:"sleeping_ns"`
	BlockedNs   units.Ns `json:"blocked_ns"` // for a reason that is not known
	UnknownNs   units.Ns `json:"unknown_ns"` // not observed
	Voluntary   uint64   `json:"voluntary"`
	Involuntary uint64   `json:"involuntary"`
	CPUNs       *int64   `json:"cpu_ns"`   // by the kernel's account of the same stretch; null: not known
	FirstNs     int64    `json:"first_ns"` // of the observation
	LastNs      int64    `json:"last_ns"`
	BeginSeen   bool     `json:"begin_seen"`
	EndSeen     bool     `json:"end_seen"`
}

func timesOf(t *session.ThreadTime) *threadTimes {
	s := &t.States
	return &threadTimes{
		OSID: t.TID, RunningNs: s[sched.Running], RunnableNs: s[sched.Runnable], FutexNs: s[sched.Futex], IONs: s[sched.IO],
		SleepingNs: s[sched.Sleeping], BlockedNs: s[sched.Blocked], UnknownNs: s[sched.Unknown],
		Voluntary: t.Voluntary, Involuntary: t.Involuntary, CPUNs: ifMeasured(t.CPU),
		FirstNs: int64(t.First), LastNs: int64(t.Last), BeginSeen: t.BeginSeen, EndSeen: t.EndSeen,
	}
}

// states are the times in the order of the columns.
func (t *threadTimes) states() []units.Ns {
	return []units.Ns{t.RunningNs, t.RunnableNs, t.FutexNs, t.IONs, t.SleepingNs, t.BlockedNs, t.UnknownNs}
}

var stateColumns = []string{"running", "runnable", "futex", "io", "sleeping", "blocked", "unknown"}

func timesHeader() []string {
	header := make([]string, 0, len(stateColumns)+2)
	for _, c := range stateColumns {
		header = append(header, c+"_ns")
	}
	return append(header, "voluntary", "involuntary")
}

func (t *threadTimes) cells() []string {
	if t == nil {
		return make([]string, len(timesHeader()))
	}
	var cells []string
	for _, n := range t.states() {
		cells = append(cells, strconv.FormatInt(int64(n), 10))
	}
	return append(cells, uintCell(&t.Voluntary), uintCell(&t.Involuntary))
}

// addTimes puts the times of the scheduling record into the rows of its threads,
// and appends rows for those of which the agent did not tell. The second result
// is nil if there is no record.
func addTimes(env Env, s *session.Session, rows []threadRow) ([]threadRow, *session.Times) {
	times, err := s.ThreadTimes()
	if err != nil {
		env.note("%s", text.OneLine(err.Error())) // the rest of the table stands without it
		return rows, nil
	}
	if times == nil {
		return rows, nil
	}
	place := map[threadKey]int{}
	for i := range rows {
		place[rows[i].key] = i
	}
	for i := range times.Threads {
		t := &times.Threads[i]
		if t.Carried != nil {
			if j, ok := place[keyOf(t.Carried)]; ok && rows[j].Times == nil {
				rows[j].Times, rows[j].Role = timesOf(t), t.Role(s.Manifest.JVM.PID)
				continue
			}
		}
		rows = append(rows, threadRow{Thread: t.Label(), Threads: 1, Kind: t.Kind, Role: t.Role(s.Manifest.JVM.PID), Pool: t.Pool(),
			OSID: unlessZero(int64(t.TID)), StartNs: ifSeen(t.First, t.BeginSeen), EndNs: ifSeen(t.Last, t.EndSeen), CPUNs: ifMeasured(t.CPU),
			Counters: map[string]counted{}, Times: timesOf(t)})
	}
	if times.Record.Source == sched.NoSource {
		env.note("scheduling record not available: %s", clean(times.Record.NotAvailable[sched.NoRecord]))
		times = nil
	}
	return rows, times
}

// threadKey names a thread of a session: its id, or that of the operating
// system where it is none of Java's.
type threadKey struct {
	id   uint32
	osID int32
}

func keyOf(t *session.Thread) threadKey {
	if t.ID != 0 {
		return threadKey{id: t.ID}
	}
	return threadKey{osID: t.OSID}
}

// ifSeen is a time that was observed, or nil.
func ifSeen(at units.MonoNs, seen bool) *int64 {
	if !seen {
		return nil
	}
	n := int64(at)
	return &n
}

// printTimes is the table of a session that has a scheduling record.
func (l *listing) printTimes(rows []threadRow, total int, times *session.Times) error {
	t := table.New(table.Column{Title: "thread", Flexible: true}, table.Column{Title: "kind"}, right("CPU"), right("in tasks"),
		right("executions"), right("lost"), right("running"), right("runnable"), right("futex"), right("I/O"), right("sleeping"),
		right("blocked"), right("unknown"), right("switches: own + forced"))
	for _, r := range rows {
		cells := []string{r.title(), r.kindAndRole(), nsCell(r.CPUNs), nsCell(r.TaskCPUNs), units.FormatExact(r.Executions), r.lost()}
		t.Row(append(cells, r.Times.texts()...)...)
	}
	if err := l.render(t, total); err != nil {
		return err
	}
	l.noteTimes(times)
	return nil
}

func (r *threadRow) kindAndRole() string {
	if r.Role == "" {
		return r.Kind
	}
	return r.Kind + " (" + r.Role + ")"
}

// texts are the cells of the table; a state in which the thread never was has none.
func (t *threadTimes) texts() []string {
	texts := make([]string, len(stateColumns)+1)
	if t == nil {
		return texts
	}
	for i, n := range t.states() {
		if n > 0 {
			texts[i] = units.FormatNs(n)
		}
	}
	texts[len(stateColumns)] = units.FormatExact(int64(t.Voluntary)) + " + " + units.FormatExact(int64(t.Involuntary))
	return texts
}

// noteTimes says from where the times are, and what is not in them.
func (l *listing) noteTimes(times *session.Times) {
	r := times.Record
	l.env.note("times by %s, over %s; %s lost", r.Source, units.FormatNs(units.Ns(r.To-r.From)), text.PluralExact(min(r.Lost, math.MaxInt64), "record", "records"))
	if !times.Whole {
		l.env.note("the record was not ended in order: what came after %s is missing", units.FormatNs(units.Ns(r.To-r.From)))
	}
	for _, what := range slices.Sorted(maps.Keys(r.NotAvailable)) {
		l.env.note("%s not available: %s", clean(what), clean(r.NotAvailable[what]))
	}
	noteAccount(l.env, r.Account)
	for _, err := range times.Damage {
		l.env.note("%s", text.OneLine(err.Error()))
	}
}
