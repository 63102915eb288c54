package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackagent/internal/attach"
	"stackagent/internal/testjvm"
)

// TestAttachFailed: a session that cannot begin, while probes of an earlier one
// are executed, leaves nothing behind that the next could stumble over.
func TestAttachFailed(t *testing.T) {
	testjvm.Shared(t)
	jdk := slices.MaxFunc(testjvm.JDKs(t), func(a, b testjvm.JDK) int { return a.Version - b.Version })
	g := startAgain(t, jdk, "e2e/testdata/attach/failed")
	run := func() { g.attached(t, func() { g.again(t) }) }
	run()
	noCertificate := filepath.Join(t.TempDir(), "authorities")
	if err := os.WriteFile(noCertificate, []byte("none\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		p, err := attach.Inspect(g.pid, filepath.Base(testjvm.Library(t)))
		if err == nil {
			err = p.Start(t.Context(), testjvm.Library(t), "tlsca="+noCertificate)
		}
		if !errors.Is(err, attach.ErrSession) {
			t.Fatalf("%v, want %v", err, attach.ErrSession)
		}
	}
	run()
	run()
	g.close(t)
}
