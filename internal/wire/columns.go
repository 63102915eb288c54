package wire

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"stackagent/internal/units"
)

// The columnar payloads. Every column is first turned into a sequence of
// unsigned codes (deltas, residuals; see the transforms in executions.go and
// creations.go), then written in the shorter of two ways: each code as a
// varint, or runs of equal codes. All arithmetic is modulo 2^64, so that any
// value survives, however unlikely.

// payloadFormat is the first byte of a payload.
const payloadFormat = 1

// How the codes of a column are written.
const (
	plainCodes = 0 // a varint for each code
	runCodes   = 1 // pairs of varints: length of the run, code
)

// Columns of extra metrics have numbers from colWork on: + 2k for extra metric k, + 2k + 1 for what nested
// executions did of it. The numbers of the others stand in package schema.
const colWorkEnd = colWork + 2*MaxExtra

func zigzag(d uint64) uint64   { return d<<1 ^ uint64(int64(d)>>63) }
func unzigzag(c uint64) uint64 { return c>>1 ^ -(c & 1) }

// sizeBytes is the width of a column's length, a varint padded to this many
// bytes so that it can be filled in after the codes are written.
const sizeBytes = 4

// appendColumn writes one column: number, way, length in bytes, codes. Runs
// are taken when they are at least two long on average.
func appendColumn(out []byte, number uint64, codes []uint64) []byte {
	way := byte(plainCodes)
	if countRuns(codes)*2 <= len(codes) {
		way = runCodes
	}
	out = append(out, byte(number), way)
	at := len(out)
	out = append(out, make([]byte, sizeBytes)...)
	if way == runCodes {
		out = appendRuns(out, codes)
	} else {
		out = appendPlain(out, codes)
	}
	size := len(out) - at - sizeBytes
	for i := range sizeBytes {
		out[at+i] = byte(size>>(7*i))&0x7f | 0x80
	}
	out[at+sizeBytes-1] &= 0x7f
	return out
}

func countRuns(codes []uint64) int {
	n := min(len(codes), 1)
	for i := 1; i < len(codes); i++ {
		if codes[i] != codes[i-1] {
			n++
		}
	}
	return n
}

// appendPlain writes varints, the short cases, nearly all of them, in line and
// without a check of the capacity each.
func appendPlain(out []byte, codes []uint64) []byte {
	const block = 64
	for len(codes) > 0 {
		part := codes[:min(block, len(codes))]
		codes = codes[len(part):]
		at := len(out)
		out = slices.Grow(out, block*binary.MaxVarintLen64)
		b := out[at : at+block*binary.MaxVarintLen64]
		n := 0
		for _, c := range part {
			for c >= 0x80 {
				b[n] = byte(c) | 0x80
				c >>= 7
				n++
			}
			b[n] = byte(c)
			n++
		}
		out = out[:at+n]
	}
	return out
}

func runEnd(codes []uint64, i int) int {
	j := i + 1
	for j < len(codes) && codes[j] == codes[i] {
		j++
	}
	return j
}

func appendRuns(out []byte, codes []uint64) []byte {
	for i := 0; i < len(codes); {
		j := runEnd(codes, i)
		out = binary.AppendUvarint(out, uint64(j-i))
		out = binary.AppendUvarint(out, codes[i])
		i = j
	}
	return out
}

// outerCoder codes the enclosing execution: 0 none, otherwise the difference
// to the last one that was not none (1: the same).
type outerCoder struct{ last uint64 }

func (o *outerCoder) encode(v uint64) uint64 {
	if v == 0 {
		return 0
	}
	z := skipOver(zigzag(v-o.last), zigzag(0-o.last))
	o.last = v
	return z
}

func (o *outerCoder) decode(c uint64) uint64 {
	if c == 0 {
		return 0
	}
	o.last += unzigzag(unskip(c, zigzag(0-o.last)))
	return o.last
}

// skipOver makes room for code 0 with a meaning of its own: of all values z,
// hole never occurs, so the values below it move up by one and fill it.
func skipOver(z, hole uint64) uint64 {
	if z < hole {
		return z + 1
	}
	return z
}

// unskip is the inverse of skipOver, for c > 0.
func unskip(c, hole uint64) uint64 {
	if c <= hole {
		return c - 1
	}
	return c
}

// cpuRatio predicts CPU nanoseconds from clock ticks: a task that was never
// off its CPU used ticks*ratio/2^32 nanoseconds, give or take a few.
type cpuRatio uint64

func (r cpuRatio) predict(ticks uint64) uint64 {
	hi, lo := bits.Mul64(ticks, uint64(r))
	return hi<<32 | lo>>32
}

// encode codes a CPU time: 0 not measured, otherwise the residual.
func (r cpuRatio) encode(cpu units.Ns, ticks uint64) uint64 {
	if cpu == units.NotMeasured {
		return 0
	}
	p := r.predict(ticks)
	return skipOver(zigzag(uint64(cpu)-p), r.hole(p))
}

func (r cpuRatio) decode(c, ticks uint64) units.Ns {
	if c == 0 {
		return units.NotMeasured
	}
	p := r.predict(ticks)
	return units.Ns(p + unzigzag(unskip(c, r.hole(p))))
}

// hole is the residual that would give NotMeasured, which has its own code.
func (r cpuRatio) hole(prediction uint64) uint64 {
	const notMeasured = 1 << 63
	return zigzag(notMeasured - prediction)
}
