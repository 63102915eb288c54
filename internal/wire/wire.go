// Package wire defines what travels from the agent to the shadow: batches.
//
// A batch is a msgpack envelope (Batch) whose bulk, the executions and
// creations, sits in two columnar payloads (see columns.go). Numbers of record
// kinds and field names are for ever: a reader skips and counts what it does
// not know. Everything here arrives from another process and is hostile until
// decoded with limits (see decode.go).
package wire

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"

	"stackagent/internal/units"
)

// Version of the batch format.
const Version = 1

// NoEnd is the end of an execution that was still running when its batch was
// made (at exit or at a snapshot).
const NoEnd units.Ticks = 0

// LostPauses is the reason of a Loss of garbage collection pauses. They are no
// part of Totals.Executions and Creations, so that produced = stored + lost
// holds without them.
const LostPauses = "collection pauses, bus away"

// Batch is one message.
type Batch struct {
	Version  int
	Session  string
	Process  string // which of the JVMs that use this session's name, see ValidProcess; "" where the agent does not say
	Seq      uint64 // 1, 2, 3, ... without gaps
	Clock    ClockPair
	Hello    *Hello // in Seq 1, and again in the last batch
	Classes  []Class
	Threads  []Thread
	OS       []OSThread // newest snapshot, replaces earlier ones thread by thread
	Pauses   []Pause
	Refusals []Refusal // running sums, whole list; empty: as before
	Totals   Totals
	Last     bool   // the agent ended cleanly; no batch follows
	ExitNote string // how the JVM ended, where known

	Executions []Execution // encoded as one columnar bin payload
	Creations  []Creation  // the same
	Summaries  []Summary   // what was not recorded one by one since the batch before
	SiteSums   []SiteSum   // the same by call site

	// What is there only when asked for, or when it happens (see work.go).
	ExecutionWork    Work
	Constructions    []Construction
	ConstructionWork Work
	Submissions      []Submission
	Executors        []Executor
	Sites            []Site
	Contexts         Contexts // what is new of them
	Virtual          []VirtualThread
	Waits            []Wait
	TaskTraces       []TaskTrace
	WaitSums         []WaitSum
	Running          *RunningReport // nil: none in this batch
	Blockers         []Blocker
	InsideMonitors   []InsideMonitor
	InsideSamples    []InsideSample

	// Unknown is how many keys, fields and columns Decode skipped because it
	// does not know them (a newer agent). It does not travel.
	Unknown int
}

// Subject is the NATS subject of a session's batches: "stackagent.v1.batch.<session>".
func Subject(session string) string { return "stackagent.v1.batch." + session }

// ProcessHeader is the header of a message that repeats Batch.Process, so that
// a receiver can sort messages without decoding them.
const ProcessHeader = "Stackagent-Process"

// MessageIDs names the messages of one sender on the bus: what is sent again has the same id, by which the bus knows
// that it has it. Nobody can guess an id: who could, would have the bus take the messages of others for known ones.
type MessageIDs struct{ prefix string }

// NewMessageIDs makes ids that nobody else has.
func NewMessageIDs() MessageIDs {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it does not fail: crypto/rand ends the process instead
	return MessageIDs{hex.EncodeToString(b[:])}
}

// Of is the id of a batch.
func (m MessageIDs) Of(seq uint64) string { return m.prefix + "-" + strconv.FormatUint(seq, 10) }
