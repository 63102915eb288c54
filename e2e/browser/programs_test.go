package browser_test

import (
	"testing"

	"stackagent/internal/testjvm"
)

// TestPrograms looks at every view of the reports of programs that have other parts than a shop: virtual threads, fork/join,
// stacks, waits.
func TestPrograms(t *testing.T) {
	programs := []string{"virtual"}
	if full() {
		programs = append(programs, "forkjoin", "httpserver", "completable", "streams", "waits", "never", "timer")
	}
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			testjvm.Shared(t)
			jdks := testjvm.JDKs(t)
			jdk := jdks[len(jdks)-1]
			o := testjvm.Example(t, name)
			cmd := o.Command(t, jdk)
			cmd.Agent = append(cmd.Agent, "--contexts", "all")
			address := reportOf(t, cmd.Session(t))
			b := open(t, address, laptop)
			b.must(b.Media("", "prefers-color-scheme=dark", "prefers-reduced-motion=reduce"))
			for _, view := range viewsOf(b) {
				b.click(tabOf(view))
				b.shows("view", view)
				b.accessible(view)
				b.fits()
				b.shoot("program-" + name + "-" + view)
			}
			for _, size := range [][2]int{phone, wall} {
				b.must(b.Resize(size[0], size[1]))
				b.fits()
			}
		})
	}
}
