package wire

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The example of the format's page is what the encoder writes.
func TestExampleOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/format-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(page), "## Example: one creation")
	parts := strings.Split(after, "```")
	if !ok || len(parts) < 2 {
		t.Fatal("the page has no example")
	}
	var digits strings.Builder
	for line := range strings.Lines(parts[1]) {
		digits.WriteString(strings.ReplaceAll(regexp.MustCompile(`^([0-9a-f]{2} )*[0-9a-f]{2}`).FindString(line), " ", ""))
	}
	want, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	var e Encoder
	got := appendPayload(&e, nil, []Creation{{TaskID: 5, OuterTaskID: 1, Class: 1, Thread: 2, Flags: Failed, At: 900}}, Work{}, &creationsPayload)
	if !bytes.Equal(got, want) {
		t.Errorf("the encoder writes % x, the page says % x", got, want)
	}
}

// Every key and every column is on the page.
func TestPageNamesEveryKey(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/format-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{keyVersion, keySession, keySeq, keyClock, keyHello, keyClasses, keyThreads, keyOS,
		keyPauses, keyRefusals, keyTotals, keyLast, keyExitNote, keyExecutions, keyCreations, keyProcess, keySummaries,
		keyConstructions, keySubmissions, keyExecutors, keySites, keyFrames, keyContexts, keyContextSums, keyAccount, keyRunning} {
		if !strings.Contains(string(page), "\n| `"+key+"`") {
			t.Errorf("key %q is not on the page", key)
		}
	}
}
