package observe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"stackagent/shadow/collect/bus"
)

// ErrRefused is an observation that the shadow does not want.
var ErrRefused = errors.New("the shadow refuses it")

const askWait = 2 * time.Second // for an answer; there is none of a session that no shadow has yet

// Sender sends the files of one observation. It is not safe for concurrent use.
type Sender struct {
	conn *nats.Conn
	dir  string
	head Piece           // of each message
	sent map[string]sent // by name
}

// sent is what a file was when it was sent.
type sent struct {
	size  int64
	mtime time.Time
}

// NewSender sends the files of dir. head says whose they are and who observed.
func NewSender(conn *nats.Conn, dir string, head Piece) *Sender {
	head.Version = Version
	return &Sender{conn: conn, dir: dir, head: head, sent: map[string]sent{}}
}

// Send sends what is new or has changed, and how far the observation is: until, and whether that is its end. Records go
// after the parts that they name. An error is temporary, unless it is ErrRefused.
func (s *Sender) Send(ctx context.Context, until Piece) error {
	s.head.UntilNs, s.head.Complete = max(until.UntilNs, s.head.FromNs), false
	records := map[string][]byte{} // as they are before the parts are listed
	stats := map[string]sent{}
	for _, name := range sealed {
		if b, is, err := s.read(name); err == nil {
			records[name], stats[name] = b, is
		}
	}
	for _, folder := range []string{"sched", "monitors"} {
		entries, _ := os.ReadDir(filepath.Join(s.dir, folder))
		for _, e := range entries {
			name := folder + "/" + e.Name()
			if !strings.HasSuffix(name, ".parquet") || !Name(name) || s.sent[name] != (sent{}) {
				continue
			}
			b, is, err := s.read(name)
			if err == nil {
				err = s.file(ctx, name, b)
			}
			if err != nil {
				return err
			}
			s.sent[name] = is
		}
	}
	for _, name := range sealed {
		if stats[name] == s.sent[name] {
			continue
		}
		if err := s.file(ctx, name, records[name]); err != nil {
			return err
		}
		s.sent[name] = stats[name]
	}
	s.head.Complete = until.Complete
	_, err := s.ask(ctx, s.head)
	return err
}

func (s *Sender) read(name string) ([]byte, sent, error) {
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	info, err := os.Lstat(path)
	if err != nil {
		return nil, sent{}, err
	}
	if info.Size() > maxFile {
		return nil, sent{}, fmt.Errorf("%s has %d bytes, at most %d are sent", path, info.Size(), maxFile)
	}
	b, err := os.ReadFile(path)
	return b, sent{info.Size(), info.ModTime()}, err
}

// file sends a file, beginning anew where the shadow does not have what was sent before.
func (s *Sender) file(ctx context.Context, name string, b []byte) error {
	p := s.head
	p.Name, p.Size = name, int64(len(b))
	for again := 0; ; {
		p.Data = b[p.Offset:min(p.Offset+MaxPiece, p.Size)]
		a, err := s.ask(ctx, p)
		switch {
		case err != nil:
			return err
		case a.Have == p.Size:
			return nil
		case a.Have == p.Offset+int64(len(p.Data)):
			p.Offset = a.Have
		case again == 3:
			return fmt.Errorf("sending %s: the shadow has %d bytes of it after %d were sent", name, a.Have, p.Offset)
		default:
			again++
			p.Offset = 0
		}
	}
}

func (s *Sender) ask(ctx context.Context, p Piece) (Ack, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	m, err := s.conn.RequestWithContext(ctx, bus.Observed+p.Session, p.Encode())
	if err != nil {
		return Ack{}, fmt.Errorf("sending what was observed of session %s: %w", p.Session, err)
	}
	a, err := parseAck(m.Data)
	if err != nil {
		return Ack{}, fmt.Errorf("sending what was observed of session %s: %w", p.Session, err)
	}
	if a.Refused != "" {
		return a, fmt.Errorf("%w: %s", ErrRefused, a.Refused)
	}
	return a, nil
}
