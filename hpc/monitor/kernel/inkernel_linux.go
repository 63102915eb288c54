package kernel

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"stackagent/hpc/kernelprog"
)

// programs are loaded programs of the kernel with maps that the shadow reads as memory.
type programs struct {
	collection *ebpf.Collection
	links      []link.Link
	mapped     [][]byte
}

// kernelTypes reads the type information of the running kernel.
func kernelTypes() (*btf.Spec, error) {
	if err := kernelprog.InitialPIDNamespace(); err != nil {
		return nil, err
	}
	spec, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, kernelprog.Explain(err)
	}
	return spec, nil
}

func load(spec *ebpf.CollectionSpec) (*programs, error) {
	c, err := ebpf.NewCollection(spec)
	if err != nil {
		return nil, kernelprog.Explain(err)
	}
	return &programs{collection: c}, nil
}

// attach starts the programs in the given order.
func (p *programs) attach(names ...string) error {
	for _, name := range names {
		program := p.collection.Programs[name]
		l, err := link.AttachTracing(link.TracingOptions{Program: program})
		if err != nil {
			return kernelprog.Explain(fmt.Errorf("attaching the program %s: %w", name, err))
		}
		p.links = append(p.links, l)
	}
	return nil
}

// memory maps an array of the kernel. It is shared with programs that write to it: use atomic operations.
func (p *programs) memory(name string) ([]uint64, error) {
	m := p.collection.Maps[name]
	size := (int(m.ValueSize())*int(m.MaxEntries()) + unix.Getpagesize() - 1) &^ (unix.Getpagesize() - 1)
	b, err := unix.Mmap(m.FD(), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping the counts of the kernel: %w", err)
	}
	p.mapped = append(p.mapped, b)
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8), nil
}

// close is also for programs that were loaded only in part.
func (p *programs) close() error {
	var all error
	for _, l := range p.links {
		all = errors.Join(all, l.Close())
	}
	for _, b := range p.mapped {
		all = errors.Join(all, unix.Munmap(b))
	}
	p.links, p.mapped = nil, nil
	p.collection.Close()
	return all
}
