package store

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"stackagent/internal/wire"
)

const (
	writeChunk = 1024      // rows handed to the Parquet writer at once
	pageBytes  = 256 << 10 // of a column before compression
	// rowGroupRows bounds what a reader of one part has to hold.
	rowGroupRows = 1 << 20
)

// Keys in the footer of a part.
const (
	clockKey   = "stackagent.clock"   // JSON list of [ticks, CLOCK_MONOTONIC ns]
	versionKey = "stackagent.version" // Version of the session format
)

func writerOptions(schema *parquet.Schema) []parquet.WriterOption {
	return []parquet.WriterOption{
		schema, parquet.Compression(&zstd.Codec{}), parquet.PageBufferSize(pageBytes),
		parquet.MaxRowsPerRowGroup(rowGroupRows), parquet.DataPageStatistics(true),
		parquet.CreatedBy("stackagent", fmt.Sprint(Version), ""),
	}
}

// encoder keeps the Parquet writers of the big tables, whose buffers are worth
// keeping between parts.
type encoder struct {
	executions *parquet.GenericWriter[executionRow]
	creations  *parquet.GenericWriter[creationRow]
	rows       []executionRow
	made       []creationRow
}

func newEncoder() *encoder {
	return &encoder{
		executions: parquet.NewGenericWriter[executionRow](io.Discard, writerOptions(parquet.SchemaOf(executionSchema{}))...),
		creations:  parquet.NewGenericWriter[creationRow](io.Discard, writerOptions(parquet.SchemaOf(creationSchema{}))...),
		rows:       make([]executionRow, writeChunk),
		made:       make([]creationRow, writeChunk),
	}
}

// encode writes table t of p as one Parquet file.
func (e *encoder) encode(w io.Writer, t Table, p *Part) error {
	switch t {
	case Executions:
		return e.encodeExecutions(w, p)
	case Creations:
		return e.encodeCreations(w, p)
	case Classes:
		return encodeSmall(w, p.Classes, p.Clock)
	case Threads:
		return encodeSmall(w, p.Threads, p.Clock)
	case Pauses:
		return encodeSmall(w, p.Pauses, p.Clock)
	case OSThreads:
		return encodeSmall(w, p.OSThreads, p.Clock)
	}
	return fmt.Errorf("no such table: %v", t)
}

func (e *encoder) encodeExecutions(w io.Writer, p *Part) error {
	e.executions.Reset(w)
	for rest := p.Executions; len(rest) > 0; {
		n := min(len(rest), len(e.rows))
		for i := range n {
			e.rows[i].set(&rest[i])
		}
		if _, err := e.executions.Write(e.rows[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	clear(e.rows) // do not keep the part alive
	return finish(e.executions, p.Clock)
}

func (e *encoder) encodeCreations(w io.Writer, p *Part) error {
	e.creations.Reset(w)
	for rest := p.Creations; len(rest) > 0; {
		n := min(len(rest), len(e.made))
		for i := range n {
			e.made[i].set(&rest[i])
		}
		if _, err := e.creations.Write(e.made[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	clear(e.made)
	return finish(e.creations, p.Clock)
}

func encodeSmall[T any](w io.Writer, rows []T, clock []wire.ClockPair) error {
	pw := parquet.NewGenericWriter[T](w, writerOptions(parquet.SchemaOf(*new(T)))...)
	if _, err := pw.Write(rows); err != nil {
		return err
	}
	return finish(pw, clock)
}

func finish[T any](w *parquet.GenericWriter[T], clock []wire.ClockPair) error {
	pairs := make([][2]int64, len(clock))
	for i, c := range clock {
		pairs[i] = [2]int64{int64(c.Ticks), int64(c.Mono)}
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		return fmt.Errorf("encoding the clock: %w", err)
	}
	w.SetKeyValueMetadata(clockKey, string(text))
	w.SetKeyValueMetadata(versionKey, fmt.Sprint(Version))
	return w.Close()
}
