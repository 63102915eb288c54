package wire

import (
	"encoding/binary"
	"fmt"
	"math"

	"stackagent/internal/histogram"
)

// The payload of summaries. Unlike those of single records it is written entry
// by entry: a batch has few, and of each many buckets. Every entry and every
// measure has its length, so that a reader can pass over what it does not know.

const (
	// maxVarint is the longest number on the wire, in bytes.
	maxVarint = binary.MaxVarintLen64
	// submissionNumbers are the first of the later numbers of a summary: all or none.
	submissionNumbers = 4
)

// EncodedSize bounds from above what s takes in a batch, in bytes.
func (s *Summary) EncodedSize() int {
	n := (summaryFields + 1 + summaryLaterFields) * maxVarint
	for i := range s.Measures {
		n += measureSize(&s.Measures[i])
	}
	return n
}

// measureSize bounds a measure: numbers, then buckets by their distance (two
// bytes hold any) and count.
func measureSize(m *Measure) int {
	n := 6 * maxVarint
	for _, b := range m.Buckets {
		n += 2 + varintSize(b.Count)
	}
	return n
}

func varintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// checkSummaries refuses what a reader would refuse.
func checkSummaries(list []Summary) error {
	if len(list) > MaxSummaries {
		return fmt.Errorf("%d summaries: %w", len(list), ErrTooMany)
	}
	for i := range list {
		last := Metric(0)
		for k := range list[i].Measures {
			m := &list[i].Measures[k]
			if m.Metric <= last {
				return fmt.Errorf("summary %d: metric %d after metric %d: want ascending numbers from 1", i, m.Metric, last)
			}
			last = m.Metric
			if err := m.check(); err != nil {
				return fmt.Errorf("summary %d, metric %d: %w", i, m.Metric, err)
			}
		}
	}
	return nil
}

// check holds the buckets against one another and against the count.
func (m *Measure) check() error {
	last, sum := -1, uint64(0)
	for _, b := range m.Buckets {
		switch {
		case int(b.Index) <= last || b.Index >= histogram.Buckets:
			return fmt.Errorf("bucket %d after bucket %d of %d", b.Index, last, histogram.Buckets)
		case b.Count == 0:
			return fmt.Errorf("bucket %d is empty", b.Index)
		case b.Count > math.MaxUint64-sum:
			return fmt.Errorf("the counts of the buckets have no sum of 64 bits")
		}
		last, sum = int(b.Index), sum+b.Count
	}
	if sum != m.Count {
		return fmt.Errorf("%d executions, but %d in the buckets", m.Count, sum)
	}
	return nil
}

func appendSummaries(out []byte, list []Summary) []byte {
	out = append(out, payloadFormat)
	out = binary.AppendUvarint(out, uint64(len(list)))
	var body []byte
	for i := range list {
		body = appendSummary(body[:0], &list[i])
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	return out
}

func appendSummary(out []byte, s *Summary) []byte {
	for _, v := range summaryNumbers(s) {
		out = binary.AppendUvarint(out, v)
	}
	out = binary.AppendUvarint(out, uint64(len(s.Measures)))
	var body []byte
	for i := range s.Measures {
		body = appendMeasure(body[:0], &s.Measures[i])
		out = binary.AppendUvarint(out, uint64(s.Measures[i].Metric))
		out = binary.AppendUvarint(out, uint64(len(body)))
		out = append(out, body...)
	}
	later := summaryLaterNumbers(s)
	n := len(later) // up to the last one that says something
	for n > 0 && later[n-1] == 0 {
		n--
	}
	if n > 0 {
		n = max(n, submissionNumbers)
	}
	for _, v := range later[:n] {
		out = binary.AppendUvarint(out, v)
	}
	return out
}

func appendMeasure(out []byte, m *Measure) []byte {
	for _, v := range [...]uint64{m.Sum, m.Min, m.Max, uint64(len(m.Buckets))} {
		out = binary.AppendUvarint(out, v)
	}
	last := -1
	for _, b := range m.Buckets {
		out = binary.AppendUvarint(out, uint64(int(b.Index)-last-1))
		out = binary.AppendUvarint(out, b.Count)
		last = int(b.Index)
	}
	return out
}

// decodeSummaries is the inverse of appendSummaries; unknown counts the
// measures and the ends of entries that were passed over.
func decodeSummaries(data []byte, limit int) (list []Summary, unknown int, err error) {
	return decodeBlocks(data, limit, summaryFields+2, "summary", "summaries", (*payload).summary)
}

// decodeBlocks reads a payload of entries that each begin with their length. least
// is the fewest bytes of an entry, decode reads one that ends at end; unknown
// counts what was passed over.
func decodeBlocks[T any](data []byte, limit, least int, one, many string, decode func(p *payload, entry *T, end int)) (list []T, unknown int, err error) {
	p, err := openPayload(data, limit)
	if err != nil {
		return nil, 0, err
	}
	if p.count > len(data)/least {
		return nil, 0, p.fail("count", "more "+many+" than the payload can hold")
	}
	list = make([]T, p.count)
	for i := range list {
		end := p.block(one)
		decode(p, &list[i], end)
		if p.err == nil && p.at < end {
			p.at = end
			p.unknown++
		}
		if p.err != nil {
			return nil, 0, p.err
		}
	}
	if p.at < len(data) {
		return nil, 0, p.fail(many, "bytes left over")
	}
	return list, p.unknown, nil
}

// block reads a length and gives where the block ends.
func (p *payload) block(field string) (end int) {
	n := p.uvarint(field + ".length")
	if p.err == nil && n > uint64(len(p.data)-p.at) {
		p.err = p.fail(field, "longer than its payload")
	}
	if p.err != nil {
		return p.at
	}
	return p.at + int(n)
}

// within reads a number of a block that ends at end.
func (p *payload) within(field string, end int, limit uint64) uint64 {
	v := p.uvarint(field)
	switch {
	case p.err != nil:
		return 0
	case p.at > end:
		p.err = p.fail(field, "reaches beyond its entry")
	case v > limit:
		p.err = p.fail(field, "value too large for its field")
	}
	return v
}

// later reads a number that an older agent does not write: then it is 0.
func (p *payload) later(field string, end int, limit uint64) uint64 {
	if p.at >= end {
		return 0
	}
	return p.within(field, end, limit)
}

func (p *payload) summary(s *Summary, end int) {
	p.summaryNumbers(s, end)
	n := p.within("summary.measures", end, math.MaxUint8)
	last := uint64(0)
	for ; n > 0 && p.err == nil; n-- {
		metric := p.within("measure.metric", end, math.MaxUint8)
		if p.err == nil && metric <= last {
			p.err = p.fail("measure.metric", "metrics are not in ascending order")
		}
		last = metric
		p.measure(s, Metric(metric), end)
	}
	if p.err == nil && p.at < end {
		p.summaryLaterNumbers(s, end)
	}
}

// measure reads one measure into s; one of a metric that it does not know is
// passed over and counted.
func (p *payload) measure(s *Summary, metric Metric, entry int) {
	end := p.block("measure")
	if p.err == nil && end > entry {
		p.err = p.fail("measure", "reaches beyond its entry")
	}
	if p.err != nil {
		return
	}
	if !metric.known() {
		p.at = end
		p.unknown++
		return
	}
	m := Measure{Metric: metric}
	m.Sum = p.within("measure.sum", end, math.MaxUint64)
	m.Min = p.within("measure.min", end, math.MaxUint64)
	m.Max = p.within("measure.max", end, math.MaxUint64)
	p.buckets(&m, end)
	if p.err == nil && p.at < end {
		p.at = end
		p.unknown++
	}
	s.Measures = append(s.Measures, m)
}

func (p *payload) buckets(m *Measure, end int) {
	n := p.within("measure.buckets", end, histogram.Buckets)
	if p.err == nil && n > uint64(end-p.at)/2 { // a bucket takes two bytes at least
		p.err = p.fail("measure.buckets", "more than the measure can hold")
	}
	if p.err != nil || n == 0 {
		return
	}
	m.Buckets = make([]histogram.Bucket, n)
	next := uint64(0)
	for i := range m.Buckets {
		next += p.within("bucket.index", end, histogram.Buckets)
		count := p.within("bucket.count", end, math.MaxUint64)
		switch {
		case p.err != nil:
			return
		case next >= histogram.Buckets:
			p.err = p.fail("bucket.index", "beyond the last bucket")
		case count == 0:
			p.err = p.fail("bucket.count", "an empty bucket")
		case count > math.MaxUint64-m.Count:
			p.err = p.fail("bucket.count", "the counts have no sum of 64 bits")
		}
		m.Buckets[i] = histogram.Bucket{Index: uint16(next), Count: count}
		m.Count += count
		next++
	}
}
