package instrument

import "stackagent/agent/classfile"

// Annotations of the methods that the JVM may replace with machine code of its own:
// the first since JDK 16, the second before.
const (
	annotationIntrinsic   = "Ljdk/internal/vm/annotation/IntrinsicCandidate;"
	annotationIntrinsic11 = "Ljdk/internal/HotSpotIntrinsicCandidate;"
)

// replaceable reports whether the JVM may execute something else instead of a method.
// Whether it does depends on the compiler, so the instructions of such a method are not
// counted, as for a native one.
func replaceable(m *classfile.Member) bool {
	for _, name := range []string{annotationIntrinsic, annotationIntrinsic11} {
		if yes, err := m.HasAnnotation(name); yes && err == nil {
			return true
		}
	}
	return false
}

// onlyMarked are methods that carry the annotation for another reason: the JVM skips
// them in stack walks, or inlines them more readily. They call functions of the
// program.
var onlyMarked = map[string]bool{
	"java/lang/reflect/Method.invoke":                               true,
	"java/util/stream/Streams$RangeIntSpliterator.forEachRemaining": true,
}
