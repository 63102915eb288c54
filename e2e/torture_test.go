package e2e_test

import "os"

// Tests named TestTorture... attack a profiled JVM, the shadow or a session, and compare the program's output,
// exit code and counts with a run without the agent. In make test they run in a short form; make torture
// (STACKAGENT_TORTURE=full) runs them in full, with more rounds and on every JDK.
func torture() bool { return os.Getenv("STACKAGENT_TORTURE") == "full" }

// roundsOf returns how often a torture test repeats its attack.
func roundsOf(short, full int) int {
	if torture() {
		return full
	}
	return short
}
