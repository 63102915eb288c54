package measure

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

func TestKernel(t *testing.T) {
	k, err := WatchKernel("counted")
	if errors.Is(err, os.ErrPermission) {
		t.Skip("the kernel does not count the time of eBPF programs for this user:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"counted", "another"} {
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.SocketFilter, License: "GPL",
			Instructions: asm.Instructions{asm.Mov.Imm(asm.R0, 0), asm.Return()}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(&ebpf.RunOptions{Data: make([]byte, 64), Repeat: 1000}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // until it was seen
		p.Close()
	}
	got, err := k.Close()
	if err != nil {
		t.Fatal(err)
	}
	if len(k.programs) != 1 || got.Runs > 0 && got.Time == 0 {
		t.Errorf("%d programs, %+v", len(k.programs), got)
	}
	k, err = WatchKernel("counted")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Close(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no program: %+v, %v", got, err)
	}
}
