package live

import "stackagent/internal/loglinear"

func bucketsOf(ns uint64, n uint64) []loglinear.Bucket {
	return []loglinear.Bucket{{Index: uint16(loglinear.Index(ns)), Count: n}}
}
