package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostLine bounds a message of a client, in bytes.
const mostLine = 1 << 20

// Lines is the transport of messages that are a line each. The SDK ends the server at the first line that is no message;
// here such a line is answered with an error, as JSON-RPC wants it, and the server goes on.
func Lines(in io.Reader, out io.Writer) *mcp.IOTransport {
	w := &whole{w: out}
	return &mcp.IOTransport{Reader: io.NopCloser(&lines{in: bufio.NewReader(in), errs: w}), Writer: w}
}

// whole writes for several writers.
type whole struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *whole) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(p)
}

func (w *whole) Close() error { return nil }

// lines reads the lines that are messages.
type lines struct {
	in   *bufio.Reader
	errs io.Writer
	rest []byte // messages that are not yet read
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, long, err := l.line()
		if wrong := l.take(line, long); wrong != nil {
			return 0, wrong
		}
		if err != nil && len(l.rest) == 0 {
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line is the next line; long: it has more than mostLine bytes, and the rest of it is left out.
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > mostLine {
			long = true
		} else if !long {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, long, err
		}
	}
}

// take adds a line to the messages, or answers what is wrong with it. A batch, which newer versions of the protocol do not
// have, is taken as its messages.
func (l *lines) take(line []byte, long bool) error {
	line = bytes.TrimSpace(line)
	var batch []json.RawMessage
	switch {
	case long:
		return l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("a message has at most %d bytes", mostLine))
	case len(line) == 0:
		return nil
	case !json.Valid(line):
		return l.refuse(jsonrpc.CodeParseError, "the line is not JSON; a message is one line")
	case line[0] != '[':
		batch = []json.RawMessage{line}
	default:
		if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
			return l.refuse(jsonrpc.CodeInvalidRequest, "a batch without messages")
		}
	}
	for _, m := range batch {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			if err := l.refuse(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0"); err != nil {
				return err
			}
			continue
		}
		l.rest = append(append(l.rest, m...), '\n')
	}
	return nil
}

// refuse answers a line of which the id is not known.
func (l *lines) refuse(code int, why string) error {
	_, err := l.errs.Write(append(encode(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why}}), '\n'))
	return err
}
