package e2e_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// TestTortureDebugger: a debugger suspends a thread while it describes a class, in a call from the agent into the JVM. No other thread waits for it, whatever it has to describe.
func TestTortureDebugger(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range newestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) { debugged(t, jdk) })
	}
}

func debugged(t *testing.T, jdk testjvm.JDK) {
	t.Helper()
	program := filepath.Join(testjvm.Root(t), "e2e", "testdata", "debugged")
	folder, alone, dir := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "session")
	cmd := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, program), Main: "Debugged", Args: []string{alone}}
	for _, name := range []string{"go", "suspended"} {
		if err := os.WriteFile(filepath.Join(alone, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plain := cmd.Plain(t)
	addr := freeAddr(t)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	cmd.VM, cmd.Args = []string{"-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,quiet=y,address=" + addr}, []string{folder}
	java := start(t, nil, append([]string{testjvm.Shadow(t), "run", "-q", "-o", dir, "--"}, cmd.Java()...)...)
	java.waitLine(t, "ready")
	debugger := start(t, nil, jdk.Tool("java"), "-cp", cmd.Classpath, "Debugger", port, folder)
	if out, exit := debugger.end(t); exit != 0 || out != "the others went on\n" {
		t.Fatalf("the debugger ends with %d: %s\n%s", exit, out, debugger.stderr.String())
	}
	out, exit := java.end(t)
	if out = "ready\n" + out; exit != plain.Exit || out != plain.Stdout {
		t.Errorf("exit %d, stdout\n%s\nwithout the agent %d,\n%s\n%s", exit, out, plain.Exit, plain.Stdout, java.stderr.String())
	}
	sameCounts(t, out, dir)
}
