package unit

import (
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// IsBulk reports whether the JDK makes tasks of a class by splitting one operation: a
// parallel stream or sort, or a bulk operation on a map or on large numbers. Fork/join
// tasks that run one function each (stages of a CompletableFuture, invokeAny) are not.
func IsBulk(c *session.Class) bool {
	return c.Kinds&units.KindForkJoin != 0 && slices.ContainsFunc(bulkClasses, func(p string) bool { return strings.HasPrefix(c.Name, p) })
}

// bulkClasses are prefixes of the classes into which java.base splits work, JDK 17 to 25.
var bulkClasses = []string{
	"java.util.stream.", "java.util.concurrent.ConcurrentHashMap$", "java.util.ArrayPrefixHelpers$",
	"java.util.ArraysParallelSortHelpers$", "java.util.DualPivotQuicksort$", "java.math.BigInteger$",
}
