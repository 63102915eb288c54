package testjvm

import (
	"os"
	"testing"
)

// CountsVariable names a file to which each test process adds a line for each thing that a run of all tests may have only so
// many of (scripts/budget.txt): "jvm", "browser", "attempt". Not set: nothing is counted.
const CountsVariable = "STACKAGENT_TEST_COUNTS"

// Counted adds one to what there was of a thing.
func Counted(what string) {
	file := os.Getenv(CountsVariable)
	if file == "" || !testing.Testing() {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(what + "\n") // one write: lines of processes do not mix
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		panic("counting what the tests start: " + err.Error())
	}
}
