package e2e_test

import (
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// warnings are the lines of a JVM's check of JNI calls.
func warnings(out string) (list []string) {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "WARNING") || strings.Contains(line, "FATAL") {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

// -Xcheck:jni warns of nothing that it does not warn of without us, whichever of two agents is in front. The other one
// retransforms, and sees the classes that ours retransforms.
func TestTortureCheckedInFront(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			agent := jar(t, testjvm.Compile(t, jdk, "testdata/premain"),
				"Premain-Class: early.Agent\nCan-Retransform-Classes: true\n")
			java, main := []string{jdk.Tool("java"), "-Xcheck:jni"}, []string{"-cp", agent, "early.Main"}
			other, ours := "-javaagent:"+agent, agentFlag(t, "bus=nats://127.0.0.1:1")
			run := func(options ...string) (out string, warned []string) {
				p := start(t, nil, append(append(java[:2:2], options...), main...)...)
				out, exit := p.end(t)
				if exit != 0 {
					t.Fatalf("%q: exit %d\n%s", options, exit, p.stderr.String())
				}
				return out, append(warnings(out), warnings(p.stderr.String())...)
			}
			want, wantWarned := run(other)
			for _, options := range [][]string{{other, ours}, {ours, other}} {
				out, warned := run(options...)
				if len(warned) > len(wantWarned) {
					t.Errorf("%q: %d warnings, without us %d, the first is %q", options, len(warned), len(wantWarned), warned[0])
				} else if out != want {
					t.Errorf("%q: %q, without us %q", options, out, want)
				}
			}
		})
	}
}
