package e2e_test

import (
	"encoding/csv"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// jcmdThread is a line of a thread dump: name, Java id, and the id of the OS thread, in two notations.
var jcmdThread = regexp.MustCompile(`(?m)^"(.+)" #(\d+) .*\bnid=(0x[0-9a-f]+|\d+)`)

// Threads that ran before the agent attached, and that the kernel calls alike, have the OS thread that the JVM itself
// names; carriers are carriers, and nothing of them is left as a thread of kind "other".
func TestAttachedThreads(t *testing.T) {
	testjvm.Shared(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		dir := filepath.Join(testjvm.Root(t), "e2e", "testdata", "attach", "pools")
		cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, dir), Main: "Main"}
		g := startGuestLine(t, cmd.Java())
		g.pid = g.Process.Pid
		g.waitLine(t, "ready")
		var dump []byte
		p := g.attached(t, func() {
			g.work(t)
			var err error
			if dump, err = exec.Command(testjvm.JDK{Home: jdk.Compiler}.Tool("jcmd"), fmt.Sprint(g.pid), "Thread.print").Output(); err != nil {
				t.Fatalf("jcmd: %v", err)
			}
		})
		g.in.Close()
		if _, exit := g.process.end(t); exit != 0 {
			t.Errorf("exit %d", exit)
		}
		byJava, byOS := threadRows(t, p)
		workers, carriers, main := 0, 0, 0
		for _, m := range jcmdThread.FindAllStringSubmatch(string(dump), -1) {
			name, id := m[1], m[2]
			carrier := strings.HasPrefix(name, "ForkJoinPool-1-worker-")
			if name != "main" && !carrier && !strings.HasPrefix(name, "request-handler-worker-") {
				continue
			}
			n, err := strconv.ParseInt(m[3], 0, 32)
			if err != nil {
				t.Fatal(err)
			}
			row, osID := byJava[id], strconv.FormatInt(n, 10)
			want := map[bool]string{true: "application", false: "main"}[name != "main"]
			if row["os_id"] != osID || row["kind"] != want || (row["role"] == "carrier") != carrier || len(byOS[osID]) != 1 {
				t.Errorf("%s, by the JVM thread %s: %v, %d rows", name, osID, row, len(byOS[osID]))
			}
			switch {
			case carrier:
				carriers++
			case name == "main":
				main++
			default:
				workers++
			}
		}
		if workers != 3 || main != 1 || (carriers == 0) != (jdk.Version < 21) {
			t.Errorf("%d workers, %d carriers, %d main\n%s", workers, carriers, main, dump)
		}
	})
}

// threadRows are the rows of shadow threads by Java id and by OS id.
func threadRows(t *testing.T, p testjvm.Profile) (byJava map[string]map[string]string, byOS map[string][]map[string]string) {
	t.Helper()
	table, err := csv.NewReader(strings.NewReader(string(p.Shadow(t, "threads", p.Dir, "--format", "csv")))).ReadAll()
	if err != nil || len(table) < 2 {
		t.Fatalf("shadow threads: %d lines, %v", len(table), err)
	}
	byJava, byOS = map[string]map[string]string{}, map[string][]map[string]string{}
	for _, line := range table[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[table[0][i]] = cell
		}
		if id := row["java_id"]; id != "" {
			byJava[id] = row
		}
		if id := row["os_id"]; id != "" {
			byOS[id] = append(byOS[id], row)
		}
	}
	return byJava, byOS
}
