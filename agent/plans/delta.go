package plans

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// A delta says how to make one text from another, as a list of pieces: a uvarint n<<1 and n bytes, or a uvarint
// n<<1|1 for n bytes of the old text and a varint, how far they are from the end of the piece before.

const (
	window    = 8 // bytes that a piece of the old text has at least
	stride    = 4 // between two places of the old text that are looked up
	hashShift = 64 - 14
)

// Differ makes deltas; it keeps the memory for that. It belongs to one goroutine.
type Differ struct {
	at [1 << (64 - hashShift)]int32 // 1 + the place in the old text, by hash of a window; 0: none
}

func hash(b []byte) uint64 {
	return binary.LittleEndian.Uint64(b) * 0x9e3779b97f4a7c15 >> hashShift
}

// Append appends the delta from old to new.
func (d *Differ) Append(delta, old, new []byte) []byte {
	clear(d.at[:])
	for i := 0; i+window <= len(old); i += stride {
		d.at[hash(old[i:])] = int32(i) + 1
	}
	done, end := 0, 0 // of new, and of the last piece in old
	for i := 0; i+window <= len(new); {
		from := int(d.at[hash(new[i:])]) - 1
		n := 0
		if from >= 0 {
			n = common(old[from:], new[i:])
		}
		if n < window {
			i++
			continue
		}
		for i > done && from > 0 && old[from-1] == new[i-1] {
			from, i, n = from-1, i-1, n+1
		}
		delta = literal(delta, new[done:i])
		delta = binary.AppendUvarint(delta, uint64(n)<<1|1)
		delta = binary.AppendVarint(delta, int64(from-end))
		i += n
		done, end = i, from+n
	}
	return literal(delta, new[done:])
}

func common(a, b []byte) int {
	n, i := min(len(a), len(b)), 0
	for ; i+8 <= n; i += 8 {
		if x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:]); x != 0 {
			return i + bits.TrailingZeros64(x)/8
		}
	}
	for ; i < n && a[i] == b[i]; i++ {
	}
	return i
}

func literal(delta, text []byte) []byte {
	if len(text) == 0 {
		return delta
	}
	return append(binary.AppendUvarint(delta, uint64(len(text))<<1), text...)
}

var errDelta = errors.New("not a delta of this text")

// Apply makes a text of n bytes from old.
func Apply(delta, old []byte, n int) ([]byte, error) {
	text := make([]byte, 0, n)
	for at := 0; len(delta) > 0; {
		op, k := binary.Uvarint(delta)
		if k <= 0 || op>>1 > uint64(n-len(text)) {
			return nil, errDelta
		}
		delta = delta[k:]
		length := int(op >> 1)
		if op&1 == 0 {
			if length > len(delta) {
				return nil, errDelta
			}
			text, delta = append(text, delta[:length]...), delta[length:]
			continue
		}
		by, k := binary.Varint(delta)
		if k <= 0 || by < int64(-at) || by > int64(len(old)-at-length) {
			return nil, errDelta
		}
		delta = delta[k:]
		at += int(by)
		text = append(text, old[at:at+length]...)
		at += length
	}
	if len(text) != n {
		return nil, errDelta
	}
	return text, nil
}
