package store

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/format"

	"stackagent/internal/wire"
)

const (
	pageBytes = 256 << 10 // of a column before compression
	// rowGroupRows bounds what a reader of one part has to hold.
	rowGroupRows = 1 << 20
)

// Keys in the footer of a part.
const (
	clockKey   = "stackagent.clock"   // JSON list of [ticks, CLOCK_MONOTONIC ns]
	versionKey = "stackagent.version" // Version of the session format
)

var createdBy = fmt.Sprintf("stackagent version %d(build )", Version)

func writerOptions(schema *parquet.Schema) []parquet.WriterOption {
	return []parquet.WriterOption{
		schema, parquet.Compression(&zstd.Codec{}), parquet.PageBufferSize(pageBytes),
		parquet.MaxRowsPerRowGroup(rowGroupRows), parquet.DataPageStatistics(true),
		parquet.CreatedBy("stackagent", fmt.Sprint(Version), ""),
	}
}

// encoder has the writers of the big tables, with megabytes of buffers.
type encoder struct {
	executions *bigWriter[Execution]
	creations  *bigWriter[Creation]

	constructions *bigWriter[Construction]
	submissions   *bigWriter[Submission]
}

func newEncoder() (*encoder, error) {
	executions, err := newBigWriter[executionSchema](executionColumns)
	if err != nil {
		return nil, err
	}
	creations, err := newBigWriter[creationSchema](creationColumns)
	if err != nil {
		return nil, err
	}
	constructions, err := newBigWriter[constructionSchema](constructionColumns)
	if err != nil {
		return nil, err
	}
	submissions, err := newBigWriter[submissionSchema](submissionColumns)
	if err != nil {
		return nil, err
	}
	return &encoder{executions: executions, creations: creations, constructions: constructions, submissions: submissions}, nil
}

// encoders are those that nobody works with: there are as many as parts are
// written at once, however many sessions are open.
var encoders sync.Pool

// withEncoder lends f an encoder. One that f panics over is not used again.
func withEncoder(f func(*encoder) error) error {
	e, _ := encoders.Get().(*encoder)
	if e == nil {
		var err error
		if e, err = newEncoder(); err != nil {
			return err
		}
	}
	err := f(e)
	encoders.Put(e)
	return err
}

// encode writes table t of p as one Parquet file.
func (e *encoder) encode(w io.Writer, t Table, p *Part) error {
	switch t {
	case Executions:
		for i := range p.Executions {
			if err := p.Executions[i].check(); err != nil {
				return err
			}
		}
		extra, err := workColumns(p.Extra, p.ExecutionWork, len(p.Executions))
		if err != nil {
			return err
		}
		return encodeBig(e.executions, w, p.Executions, extra, p.Clock)
	case Creations:
		return encodeBig(e.creations, w, p.Creations, nil, p.Clock)
	case Constructions:
		extra, err := workColumns(p.Extra, p.ConstructionWork, len(p.Constructions))
		if err != nil {
			return err
		}
		return encodeBig(e.constructions, w, p.Constructions, extra, p.Clock)
	case Submissions:
		return encodeBig(e.submissions, w, p.Submissions, nil, p.Clock)
	case Executors:
		return encodeSmall(w, p.Executors, p.Clock)
	case Sites:
		return encodeSmall(w, p.Sites, p.Clock)
	case Frames:
		return encodeSmall(w, p.Frames, p.Clock)
	case Contexts:
		return encodeSmall(w, p.Contexts, p.Clock)
	case ContextSums:
		return encodeSmall(w, p.ContextSums, p.Clock)
	case SiteSums:
		return encodeSmall(w, p.SiteSums, p.Clock)
	case VirtualThreads:
		return encodeSmall(w, p.VirtualThreads, p.Clock)
	case Classes:
		return encodeSmall(w, p.Classes, p.Clock)
	case Threads:
		return encodeSmall(w, p.Threads, p.Clock)
	case Pauses:
		return encodeSmall(w, p.Pauses, p.Clock)
	case OSThreads:
		return encodeSmall(w, p.OSThreads, p.Clock)
	case Summaries:
		return encodeSmall(w, p.Summaries, p.Clock)
	case Measures:
		return encodeSmall(w, p.Measures, p.Clock)
	case Buckets:
		return encodeSmall(w, p.Buckets, p.Clock)
	}
	return fmt.Errorf("no such table: %v", t)
}

func encodeBig[R any](b *bigWriter[R], w io.Writer, rows []R, extra []workColumn, clock []wire.ClockPair) error {
	meta, err := metadata(clock)
	if err != nil {
		return err
	}
	return b.write(w, rows, extra, meta)
}

func encodeSmall[T any](w io.Writer, rows []T, clock []wire.ClockPair) error {
	pw := parquet.NewGenericWriter[T](w, writerOptions(parquet.SchemaOf(*new(T)))...)
	if _, err := pw.Write(rows); err != nil {
		return err
	}
	return finish(pw, clock)
}

func finish[T any](w *parquet.GenericWriter[T], clock []wire.ClockPair) error {
	meta, err := metadata(clock)
	if err != nil {
		return err
	}
	for _, m := range meta {
		w.SetKeyValueMetadata(m.Key, m.Value)
	}
	return w.Close()
}

// metadata is what the footer of a part says beside the rows.
func metadata(clock []wire.ClockPair) ([]format.KeyValue, error) {
	text, err := clockText(clock)
	if err != nil {
		return nil, err
	}
	return []format.KeyValue{{Key: clockKey, Value: text}, {Key: versionKey, Value: fmt.Sprint(Version)}}, nil
}

func clockText(clock []wire.ClockPair) (string, error) {
	pairs := make([][2]int64, len(clock))
	for i, c := range clock {
		pairs[i] = [2]int64{int64(c.Ticks), int64(c.Mono)}
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		return "", fmt.Errorf("encoding the clock: %w", err)
	}
	return string(text), nil
}
