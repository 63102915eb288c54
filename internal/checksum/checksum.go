// Package checksum gives files of a session checksums, so that a reader sees that
// one was damaged or exchanged. It does not stop a forger, who can compute new ones.
package checksum

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"

	"stackagent/internal/sessionfs"
)

// ErrMismatch is returned for content that does not match its checksum.
var ErrMismatch = errors.New("the content does not match its checksum: it was damaged, changed or exchanged")

// File is what is known of a file whose content must not change.
type File struct {
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows,omitempty"` // of a table
	SHA256 string `json:"sha256"`
}

// Check compares f with other, computed from the present content.
func (f File) Check(other File) error {
	switch {
	case f.Bytes != other.Bytes:
		return fmt.Errorf("%w (%d bytes, not %d)", ErrMismatch, other.Bytes, f.Bytes)
	case f.SHA256 != other.SHA256:
		return ErrMismatch
	}
	return nil
}

// CheckFile compares f with an open file: its size, and its checksum unless the file is large and far away.
func (f File) CheckFile(path string, file sessionfs.File) error {
	return f.check(file, sessionfs.Whole(path, f.Bytes))
}

// CheckWhole compares f with all of an open file.
func (f File) CheckWhole(file sessionfs.File) error { return f.check(file, true) }

func (f File) check(file sessionfs.File, whole bool) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	other := File{Bytes: info.Size(), SHA256: f.SHA256}
	if whole && other.Bytes == f.Bytes {
		if other, err = Of(io.NewSectionReader(file, 0, info.Size())); err != nil {
			return err
		}
	}
	return f.Check(other)
}

// Writer computes the checksum of what is written through it.
type Writer struct {
	to    io.Writer
	sum   hash.Hash
	bytes int64
}

// NewWriter passes on to w what is written.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w, sum: sha256.New()} }

// Write passes b on.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.sum.Write(b[:n])
	w.bytes += int64(n)
	return n, err
}

// File is the checksum of what was written so far.
func (w *Writer) File() File {
	return File{Bytes: w.bytes, SHA256: hex.EncodeToString(w.sum.Sum(nil))}
}

// Of computes the checksum of all that r reads.
func Of(r io.Reader) (File, error) {
	w := NewWriter(io.Discard)
	_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{r}, make([]byte, 256<<10))
	return w.File(), err
}

const (
	digestLine = "\n  \"digest\": \""
	digestEnd  = "\"\n}\n"
)

// JSON encodes v, which must be a struct or a map with at least one field, and
// appends the field digest: the checksum of all bytes before its line.
func JSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	text, ok := bytes.CutSuffix(buf.Bytes(), []byte("\n}\n"))
	if !ok {
		return nil, fmt.Errorf("sealing a %T: it has no fields", v)
	}
	text = append(text, ",\n"...)
	sum := sha256.Sum256(text)
	text = append(text, digestLine[1:]...)
	text = append(text, hex.EncodeToString(sum[:])...)
	return append(text, digestEnd...), nil
}

// CheckJSON checks what JSON wrote. It fails for a file without a digest.
func CheckJSON(data []byte) error {
	i := bytes.LastIndex(data, []byte(digestLine)) // no JSON string contains a line break
	if i < 0 {
		return fmt.Errorf("%w (there is no checksum in it)", ErrMismatch)
	}
	digest, ok := bytes.CutSuffix(data[i+len(digestLine):], []byte(digestEnd))
	sum := sha256.Sum256(data[:i+1])
	if !ok || string(digest) != hex.EncodeToString(sum[:]) {
		return ErrMismatch
	}
	return nil
}
