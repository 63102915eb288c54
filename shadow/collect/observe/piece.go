// Package observe carries what an observer recorded of a JVM to the shadow that stores its session: files in pieces, each
// acknowledged. Everything that arrives is hostile until parsed.
package observe

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"stackagent/internal/announce"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Version of the messages.
const Version = 1

// Limits of a message and of what it writes.
const (
	maxHead    = 4 << 10
	MaxPiece   = 256 << 10 // bytes of a file in a message
	maxFile    = 256 << 20
	maxName    = 256
	maxRefusal = 2 << 10
)

// Piece is a part of a file, or, without a name, only how far the observation is.
type Piece struct {
	Version  int          `json:"version"`
	Session  string       `json:"session"`
	Process  string       `json:"process"` // as announced; a shadow compares it with the session's
	HostID   string       `json:"host_id"` // the same
	PID      int          `json:"pid"`     // the same
	ID       string       `json:"id"`      // of the observation
	By       string       `json:"by"`
	Host     string       `json:"host"`
	LoadedNs units.MonoNs `json:"loaded_ns"`
	FromNs   units.MonoNs `json:"from_ns"`
	UntilNs  units.MonoNs `json:"until_ns"`
	Complete bool         `json:"complete"` // the last message

	Name   string `json:"name,omitempty"` // below the session's folder
	Size   int64  `json:"size,omitempty"` // of the whole file
	Offset int64  `json:"offset,omitempty"`
	Data   []byte `json:"-"`
}

// Ack answers a piece.
type Ack struct {
	Version int    `json:"version"`
	Have    int64  `json:"have"`              // bytes of the file that are stored
	Refused string `json:"refused,omitempty"` // why nothing of this observation is wanted; "": it is
}

// names are the files that an observer may write: the same as shadow run writes beside a session.
var names = regexp.MustCompile(`^(counters\.json|sched/(record\.json|(threads|gc|slices)-[0-9]{8}\.parquet)|monitors/(record\.json|samples-[0-9]{8}\.parquet))$`)

// Name reports whether an observer may write a file of this name.
func Name(name string) bool { return names.MatchString(name) }

var ids = regexp.MustCompile(`^[0-9a-f]{16,64}$`)

// Encode writes a message: the length of the head, the head, the data.
func (p Piece) Encode() []byte {
	head, _ := json.Marshal(p) // strings and numbers only: it does not fail
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(head)+len(p.Data)), uint32(len(head)))
	return append(append(b, head...), p.Data...)
}

// ErrPiece is a message that is no piece.
var ErrPiece = errors.New("not a piece of an observation")

// ParsePiece parses a message. Data is part of b.
func ParsePiece(b []byte) (Piece, error) {
	var p Piece
	if len(b) < 4 || len(b) > 4+maxHead+MaxPiece {
		return p, fmt.Errorf("%w: %d bytes", ErrPiece, len(b))
	}
	n := binary.BigEndian.Uint32(b)
	if n > maxHead || int(n) > len(b)-4 {
		return p, fmt.Errorf("%w: a head of %d bytes", ErrPiece, n)
	}
	if err := json.Unmarshal(b[4:4+n], &p); err != nil {
		return p, fmt.Errorf("%w: %w", ErrPiece, err)
	}
	p.Data = b[4+n:]
	if err := p.check(); err != nil {
		return Piece{}, fmt.Errorf("%w: %w", ErrPiece, err)
	}
	return p, nil
}

func (p *Piece) check() error {
	switch err := errors.Join(wire.ValidSession(p.Session), wire.ValidProcess(p.Process), announce.ValidHostID(p.HostID)); {
	case p.Version != Version:
		return fmt.Errorf("version %d, this program knows %d", p.Version, Version)
	case err != nil:
		return err
	case p.Process == "" || !ids.MatchString(p.ID) || len(p.By) > maxName || len(p.Host) > maxName:
		return errors.New("a name is missing or too long")
	case p.LoadedNs < 0 || p.FromNs < 0 || p.UntilNs < p.FromNs:
		return errors.New("a time is out of bounds")
	case p.Name == "" && len(p.Data) == 0:
		return nil
	case !Name(p.Name):
		return fmt.Errorf("a file %.80q", p.Name)
	case p.Size < 0 || p.Size > maxFile || p.Offset < 0 || p.Offset+int64(len(p.Data)) > p.Size || len(p.Data) > MaxPiece:
		return fmt.Errorf("bytes from %d on of %d", p.Offset, p.Size)
	}
	return nil
}

// parseAck parses an answer.
func parseAck(b []byte) (Ack, error) {
	var a Ack
	if len(b) > maxHead {
		return a, fmt.Errorf("an answer of %d bytes", len(b))
	}
	if err := json.Unmarshal(b, &a); err != nil {
		return a, fmt.Errorf("an answer: %w", err)
	}
	if a.Version != Version || a.Have < 0 || len(a.Refused) > maxRefusal {
		return a, fmt.Errorf("an answer of version %d: %d bytes stored", a.Version, a.Have)
	}
	return a, nil
}
