package store

import "stackagent/internal/units"

// VirtualThread is a row of the virtual_threads table: how a virtual thread was
// scheduled, or several with bodies of one class (Thread 0), of which counts and
// times are sums. Rows of a thread add up. See wire.VirtualThread.
type VirtualThread struct {
	Thread   uint32    `parquet:"thread,delta"`
	Class    uint32    `parquet:"class,delta"` // of its body
	Alive    bool      `parquet:"alive"`       // it had not ended
	AtNs     int64     `parquet:"at_ns,delta"` // when it was told
	Threads  uint64    `parquet:"threads,delta"`
	Mounts   uint64    `parquet:"mounts,delta"`
	Changes  uint64    `parquet:"carrier_changes,delta"`
	First    uint32    `parquet:"first_carrier,delta"` // Thread.ID, 0: not known
	Last     uint32    `parquet:"last_carrier,delta"`
	Pins     uint64    `parquet:"pins,delta"`
	PinnedNs units.Ns  `parquet:"pinned_ns,delta"`
	AwayNs   units.Ns  `parquet:"away_ns,delta"`
	ReadyNs  *units.Ns `parquet:"ready_ns"` // of AwayNs; nil: not measured

	MostMounts   uint64   `parquet:"most_mounts,delta"` // the largest of a single thread
	MostPinnedNs units.Ns `parquet:"most_pinned_ns,delta"`
	MostAwayNs   units.Ns `parquet:"most_away_ns,delta"`
	MostReadyNs  units.Ns `parquet:"most_ready_ns,delta"`
}

// ReadVirtualThreads calls row for every row of the virtual_threads table, in order.
func (f *Folder) ReadVirtualThreads(row func(*VirtualThread)) ([]*PartError, error) {
	return readSmall(f, VirtualThreads, row)
}
