package live

import "stackagent/internal/histogram"

func bucketsOf(ns uint64, n uint64) []histogram.Bucket {
	return []histogram.Bucket{{Index: uint16(histogram.Index(ns)), Count: n}}
}
