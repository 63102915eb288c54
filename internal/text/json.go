package text

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON gives a writer of JSON text that escapes the hidden characters that
// encoding/json lets through (the 8-bit controls, those that turn the direction
// of writing). The values stay the same; a terminal shows them and obeys none.
// A character must not be split between two calls of Write.
func JSON(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	if bytes.IndexFunc(p, escaped) < 0 {
		return j.w.Write(p)
	}
	out := make([]byte, 0, len(p)+64)
	for rest := p; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if escaped(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		} else {
			out = append(out, rest[:n]...)
		}
		rest = rest[n:]
	}
	if _, err := j.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escaped reports whether r is hidden and can only be inside a string: line ends
// and blanks between values are JSON's own.
func escaped(r rune) bool { return r > ' ' && Hidden(r) }
