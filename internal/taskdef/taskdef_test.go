package taskdef

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, s := range []string{"com.acme.Job#process", "Job#run()V", "com.acme.Job$1#p(I[[J[Ljava/lang/String;)[D", "*#*", "com.*.Job?#on*()V",
		"été.Straße#größe", "a.b#f$default(Ljava/lang/Object;)V", "scala.Fn#apply$mcV$sp", "a.My-Class#a-b"} {
		if d, problem := Parse(s); problem != "" || d.Class+"#"+d.Method+d.Descriptor != s {
			t.Errorf("%q: %+v, %s", s, d, problem)
		}
	}
	for _, s := range []string{"", "#", "garbage", "a#", "#b", "com.acme.Job", "com/acme/Job#run", "com.acme.Job.run()", "com.acme.Job#process()",
		"com.acme.Job#process(Foo)V", "com.acme.Job#process(int)", "a#b(V", "a#b()VV", "a#b(V)V", "a#b(L;)V", "a#b(Ljava.lang.String;)V", "a#<init>()V",
		"a#b#c", "a b#c", "a#b)", "a#b c", "a..b#c", ".a#b", "a.#b", "1a#b", "a#1", "a#b(I)[V", "a\tb#c", "'a#b'", strings.Repeat("a", 5000) + "#b"} {
		if d, problem := Parse(s); problem == "" {
			t.Errorf("%.40q is accepted as %+v", s, d)
		}
	}
}
