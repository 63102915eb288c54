package jvmti

import "stackagent/internal/wire"

// DecodeSummary is decodeSummary.
func DecodeSummary(words []uint64) wire.Summary { return decodeSummary(words) }
