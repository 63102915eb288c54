// Package schema declares every record of the profiler once: its fields, what they mean, where they lie in
// the ring, how they travel and which Parquet columns hold them; and the counters of a session.
//
// The generator in gen turns the declarations into the C header of the ring, the decoder of the ring, the record types and
// codecs of the wire, the rows, columns and readers of the store, the C counters and their sums, and the tables of the format
// pages. After a change run go generate ./internal/schema. To add a column, declare its field here and use it; to add a counter,
// declare it in totals.go and count.
package schema

//go:generate go run stackagent/internal/schema/gen

// Record declares one kind of record.
type Record struct {
	Name   string // the Go type in the packages wire and store: "Execution"
	Plural string // "Executions"
	Doc    string // what a record is; a sentence that begins with the name
	Ring   Ring
	Wire   Wire
	Table  Table
	Fields []Field
}

// Ring says which slots of a thread's ring a record takes. Its zero value: the record is not in the ring.
type Ring struct {
	Struct string // the C type: "sa_execution"
	Type   string // the C constant of its type: "SA_REC_EXECUTION"
	Number int    // the value of Type, for ever
	Slots  int    // of SlotBytes each
	Note   string // what the header says beside the type
}

// SlotBytes is the size of a slot in the ring.
const SlotBytes = 32

// ExtraColumns is the number of the first column of an extra metric in a columnar payload. The columns declared
// here have lower numbers.
const ExtraColumns = 32

// Coding is how the records of a batch travel.
type Coding int

// The codings.
const (
	NotSent  Coding = iota
	Columnar        // column by column in a payload
	List            // a msgpack array for each record
	Entries         // numbers entry by entry in a payload, with lengths
)

// Wire says how records travel.
type Wire struct {
	Key    string // of the envelope, for ever; "": part of something else
	Coding Coding
	What   string // how errors name the records, where that is not the name in lower case
	Ratio  bool   // the payload holds the ratio of CPU time to ticks
	Work   bool   // columns of extra metrics may follow
	If     string // List: the fields with Later are there only if this holds of x; "": unless all are zero
	In     string // the list of wire.Batch that holds them; "": as Plural
	Many   bool   // a record is more than a row
	Latest bool   // the list takes the place of the one before, so it has nothing to lose
}

// Keys are all keys of the envelope in the order in which they are written.
const Keys = "vsiqchktoprnzxeafgGjlmwbduVBSMNRWT"

// Table says how records are stored. Its zero value: they are not.
type Table struct {
	Name   string // of the table and its files: "executions"
	Doc    string // what the files hold
	Note   string // what the page says below the columns
	RowDoc string // what only the comment of the Go type says
	Big    bool   // written and read column by column
	Work   Work
	Order  int  // of the tables, where a part holds several
	Check  bool // the row's method check refuses what the columns cannot hold
}

// Work is which columns of extra metrics a table has.
type Work int

// What a table may have.
const (
	NoWork     Work = iota
	TotalWork       // a column for each extra metric
	NestedWork      // and one of what nested executions did of it
)

// Field declares one value of a record.
type Field struct {
	Name string // the Go field in package wire; "" if it does not travel
	Type string // its Go type there
	Doc  string // what it is
	Ring Slot
	Wire Column
	Row  Row
}

// Slot is where a field lies in the ring. Without a Name it is not there.
type Slot struct {
	At   int // bytes from the begin of the record
	Type string
	Name string
	Doc  string // what the header says beside it
}

// Column is how a field travels.
type Column struct {
	Number  int    // columnar: for ever; 0: does not travel
	What    string // columnar: how errors name it
	Code    Code
	Of      string // Residual: the ticks in which the CPU time was used, an expression of x
	LeftOut bool   // columnar: left out where all values are 0
	Later   bool   // list: not written by the oldest agents; entries: behind the measures, or of several threads
	Newer   bool   // list: behind the Later ones, which are of another number; written if one of the newer ones has a value
	Alone   bool   // entries: a later number that an agent may end before; others come all or none
	Bounded bool   // entries: below 2^63, so that sums are
}

// Code is how a value becomes an unsigned number.
type Code int

// The codes. Those beyond Residual are of executions.
const (
	Delta     Code = iota // zigzag of the difference to the record before
	AsIs                  // the value
	Outer                 // the enclosing execution: 0 none, else by the difference to the last that was not none
	Residual              // 0 not measured, else by the difference to the CPU time that the ticks predict
	Start                 // by the difference to the end of the record before
	End                   // end - start
	Submitted             // 0 not known, else the time before the start
	Since                 // entries: the difference to the moment before it in the record
	Measured              // entries: 0 not measured, else the value + 1
)

// Conversion is how a value gets from the wire into a row.
type Conversion int

// The conversions. By is done by hand in shadow/collect/ingest.
const (
	Copy     Conversion = iota
	Moment              // ticks to the session's clock
	Span                // ticks to nanoseconds, by the rate of the clock at the batch
	Nullable            // NotMeasured to null
	Text                // its String
	By
)

// Row is how a field is stored.
type Row struct {
	Name    string // the Go field in package store; "": as in wire; "-": not in the row
	Type    string // its Go type there; "": as in wire
	Column  string // the Parquet column; "": not stored
	Tag     string // the encoding, of small tables; "" delta for integers
	Null    string // what null means; "": never null
	LeftOut bool   // a part in which all values are null has no such column
	From    Conversion
	Doc     string // what the column is, where Field.Doc does not say it as the table needs it

	// FieldDoc is what the row's field is where the column holds another value, made by Value. It says what an unknown value is, too.
	FieldDoc string

	// Of big tables:
	Value    string // the function of the row that gives the value, and whether there is one if it may be null; "": the field
	Read     string // the slice that readers get; "": as Name; "-": none
	ReadType string // the type of its entries; "": as Type
	Set      string // the end of the constant of the column in a set of columns; "": made of Read
	Version1 string // the column in version 1 of the format, where another one
}

// Flag is a bit of a record's flags.
type Flag struct {
	Name string // the Go constant in package wire; "": only in C
	C    string // the C constant
	Bit  int
	Doc  string
}

// FlagSet declares the flags of a record.
type FlagSet struct {
	Name  string // the Go type in package wire: "ExecutionFlags"
	Of    string // the C struct, or ""
	Doc   string
	Flags []Flag
}

// Kind is a value of an enumeration.
type Kind struct {
	Name string // the Go constant in package wire
	C    string // the C constant
	Doc  string
}

// KindSet declares an enumeration. Values count from 0, for ever.
type KindSet struct {
	Name  string // the Go type in package wire: "SiteKind"
	Of    string // what the header says that they are
	Doc   string
	Kinds []Kind
}
