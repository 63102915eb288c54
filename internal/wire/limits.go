package wire

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits bound what Decode accepts and allocates.
type Limits struct {
	Bytes     int // of the whole message
	Events    int // executions, and as many creations, submissions, constructions and waits, in a batch
	Summaries int
	Items     int // classes, threads, OS threads, pauses, refusals, losses: each list
	String    int // bytes of one string
	Unknown   int // nesting of values that are skipped
}

// DefaultLimits fit every batch that Encode makes. A hostile message of
// MaxBatch bytes makes Decode allocate at most 96 MiB: the events with all
// columns of extra metrics, one column of codes and the lists.
func DefaultLimits() Limits {
	return Limits{Bytes: MaxBatch, Events: MaxEvents, Summaries: MaxSummaries, Items: MaxItems, String: MaxString, Unknown: 16}
}

// What Encode makes at most.
const (
	MaxBatch     = 1 << 20 // bytes, the payload limit of a NATS server as it comes
	MaxEvents    = 1 << 17 // executions, and as many creations, submissions, constructions and waits
	MaxSummaries = 1 << 14
	MaxItems     = 1 << 16 // entries of each list
	MaxString    = 4096    // bytes; longer ones are cut
)

// DecodeError says why bytes from the wire are no batch.
type DecodeError struct {
	Offset  int    // bytes from the start of the message, where the reader stood
	Field   string // what was being read, "threads[3].name"
	Problem string
	Cause   error // nil or what the msgpack reader said
}

func (e *DecodeError) Error() string {
	s := fmt.Sprintf("batch: %s at byte %d: %s", e.Field, e.Offset, e.Problem)
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// Unwrap gives the cause.
func (e *DecodeError) Unwrap() error { return e.Cause }

// cut shortens s to MaxString bytes at the border of a character.
func cut(s string) string {
	if len(s) <= MaxString {
		return s
	}
	const mark = "..."
	n := MaxString - len(mark)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}

// clean makes text from the wire valid UTF-8. The JVM writes a character beyond the first 65,536 as two surrogates of three bytes each.
func clean(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r := utf16.DecodeRune(surrogate(s), surrogate(s[min(3, len(s)):]))
		n := 6
		if r == utf8.RuneError {
			_, n = utf8.DecodeRuneInString(s)
			b.WriteString(s[:n])
		} else {
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// surrogate is the one with which s begins; else 0.
func surrogate(s string) rune {
	if len(s) < 3 || s[0] != 0xED || s[1]>>5 != 5 || s[2]>>6 != 2 {
		return 0
	}
	return 0xD000 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}
