package store

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A footer of a few bytes that claims 2^31 row groups: no memory for them.
func TestFooterThatClaimsTooMuch(t *testing.T) {
	dir := t.TempDir()
	footer := []byte{0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07, 0} // field 4: list of 2^31-1 structures
	data := append([]byte("PAR1"), footer...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(footer)))
	data = append(data, "PAR1"...)
	if err := os.WriteFile(filepath.Join(dir, PartName(Executions, 1, 1)), data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, bad := f.Rows(Executions)
	runtime.ReadMemStats(&after)
	if len(bad) != 1 || !errors.Is(bad[0], errTooLarge) {
		t.Errorf("damage: %v, want %v", bad, errTooLarge)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for %d", n, len(data))
	}
}
