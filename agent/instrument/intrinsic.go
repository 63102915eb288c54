package instrument

import "stackagent/agent/classfile"

// Annotations of the methods in whose place the JVM may put machine code of its
// own: JDK 16 and later, before.
const (
	annotationIntrinsic   = "Ljdk/internal/vm/annotation/IntrinsicCandidate;"
	annotationIntrinsic11 = "Ljdk/internal/HotSpotIntrinsicCandidate;"
)

// replaceable tells whether the JVM may execute something else in place of a
// method. Whether it does depends on the compiler that is at work at the
// moment, so such a method counts as a native one does: nothing.
func replaceable(m *classfile.Member) bool {
	for _, name := range []string{annotationIntrinsic, annotationIntrinsic11} {
		if yes, err := m.HasAnnotation(name); yes && err == nil {
			return true
		}
	}
	return false
}

// onlyMarked are methods that carry the annotation for another reason than to be
// replaced: the JVM skips them in stack walks, or inlines them more readily. They
// call what the program gives them.
var onlyMarked = map[string]bool{
	"java/lang/reflect/Method.invoke":                               true,
	"java/util/stream/Streams$RangeIntSpliterator.forEachRemaining": true,
}
