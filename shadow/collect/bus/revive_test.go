package bus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/wire"
)

// smallDisk mounts a file system of a few MiB.
func smallDisk(t *testing.T, mib int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("mounting a small file system (needs root): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func (b *Bus) try(seq int, patience time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_, err := b.JetStream().Publish(ctx, wire.Subject("s"), fmt.Appendf(make([]byte, 64<<10), "%d", seq))
	return err
}

// A full disk stops the stream; with space again it goes on, and has all that
// it had accepted.
func TestFullDisk(t *testing.T) {
	disk := smallDisk(t, 64)
	reports := make(chan bool, 10)
	b, err := Start(Options{Listen: "127.0.0.1:0", StoreDir: filepath.Join(disk, "bus"), Full: func(full bool) { reports <- full }})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	accepted := 0
	for i := range 5 {
		if err := b.try(i, time.Minute); err != nil {
			t.Fatal(err)
		}
		accepted++
	}
	filler := filepath.Join(disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		t.Fatal(err)
	}
	for block := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(block)
	}
	f.Close()
	for refused := 0; refused < 2; { // one may be slow
		if b.try(0, time.Second) != nil {
			refused++
		} else if accepted++; accepted > 100 {
			t.Fatal("the full disk takes all")
		}
	}
	time.Sleep(2 * lookInterval)
	if err := b.try(0, time.Second); err == nil {
		t.Fatal("accepted on a full disk")
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.Revived():
	case <-time.After(time.Minute):
		t.Fatal("the stream is not opened again")
	}
	if err := b.try(1, time.Minute); err != nil {
		t.Fatalf("with space again: %v", err)
	}
	s, err := b.JetStream().Stream(t.Context(), Stream)
	if err != nil {
		t.Fatal(err)
	}
	if full := <-reports; !full || <-reports || len(reports) > 0 {
		t.Errorf("that the disk is full, and that it has space again, is not reported once each")
	}
	if n := int(s.CachedInfo().State.Msgs); n < accepted+1 {
		t.Errorf("%d messages in the stream, %d were accepted", n, accepted+1)
	}
}
