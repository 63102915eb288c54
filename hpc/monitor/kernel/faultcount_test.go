package kernel

import (
	"os"
"errors"
"github.com/cilium/ebpf"
	"runtime"
	"testing"
	"golang.org/x/sys/unix"
)

func TestTry(t *testing.T) {
	c, err := countFaults(os.Getpid())
	if err != nil { var v *ebpf.VerifierError; errors.As(err, &v); t.Fatalf("%v %+v %v", err, v, errors.Unwrap(err)) }
	defer c.close()
	runtime.LockOSThread()
	tid := int32(unix.Gettid())
	const pages = 1000
	b, err := unix.Mmap(-1, 0, pages*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil { t.Fatal(err) }
	unix.Madvise(b, unix.MADV_NOHUGEPAGE)
	c.each(func(*faultGrowth) {})
	var before, after unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &before)
	for i := range pages { b[i*4096] = 1 }
	unix.Getrusage(unix.RUSAGE_THREAD, &after)
	var k, v uint32; for it := c.collection.Maps[mapThreads].Iterate(); it.Next(&k, &v); { t.Log("thread", k, "slot", v) }; var raw [128]byte; for i := range uint32(8) { t.Log(c.collection.Maps[mapSlots].Lookup(i, raw[:]), raw) }
	c.each(func(g *faultGrowth) { t.Logf("%+v own %v", *g, g.thread == tid) })
	t.Log(after.Minflt-before.Minflt, tid, c.state[:2]); for n := range 12 { t.Log(c.slots[n*16:n*16+16]) }
}
