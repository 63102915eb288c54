package live

import "sync/atomic"

// budget bounds what all JVMs together hold of something.
type budget struct {
	left atomic.Int64
}

func (b *budget) take() bool {
	if b.left.Add(-1) < 0 {
		b.left.Add(1)
		return false
	}
	return true
}

func (b *budget) give(n int) { b.left.Add(int64(n)) }
