package store

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/parquet-go/parquet-go/format"

	guarded "stackagent/internal/parquet"
	"stackagent/internal/wire"
)

// rowGroupRows bounds what a reader of one part has to hold.
const rowGroupRows = guarded.RowGroupRows

// Keys in the footer of a part.
const (
	clockKey   = "stackagent.clock"   // JSON list of [ticks, CLOCK_MONOTONIC ns]
	versionKey = "stackagent.version" // Version of the session format
)

var createdBy = fmt.Sprintf("stackagent version %d(build )", Version)

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

// metadata is what the footer of a part says beside the rows: the clock and whose part it is.
func metadata(clock []wire.ClockPair, id identity) ([]format.KeyValue, error) {
	text, err := clockText(clock)
	if err != nil {
		return nil, err
	}
	return append([]format.KeyValue{{Key: clockKey, Value: text}}, id.metadata()...), nil
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
