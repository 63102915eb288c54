package heap

import (
	"container/heap"
	"math/rand/v2"
	"slices"
	"testing"
)

type item struct{ key, name int }

func (x item) Before(o item) bool { return x.key < o.key }

// plain is the same heap of container/heap.
type plain []item

func (p plain) Len() int           { return len(p) }
func (p plain) Less(i, j int) bool { return p[i].key < p[j].key }
func (p plain) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *plain) Push(x any)        { *p = append(*p, x.(item)) }
func (p *plain) Pop() any {
	x := (*p)[len(*p)-1]
	*p = (*p)[:len(*p)-1]
	return x
}

// Items come in the order in which container/heap gives them, also those of which none comes before the other.
func TestLikeContainerHeap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var h Heap[item]
		for i := range r.IntN(20) {
			h = append(h, item{r.IntN(10), i})
		}
		p := plain(slices.Clone(h))
		h.Init()
		heap.Init(&p)
		for i := range 100 {
			switch x := (item{r.IntN(10), 100 + i}); {
			case len(h) > 0 && i%3 == 0:
				h[0], p[0] = x, x
				h.Fix()
				heap.Fix(&p, 0)
			case len(h) > 0 && r.IntN(2) == 0:
				if got, want := h.Pop(), heap.Pop(&p); got != want {
					t.Fatalf("%v comes first, want %v", got, want)
				}
			default:
				h.Push(x)
				heap.Push(&p, x)
			}
			if !slices.Equal(h, Heap[item](p)) {
				t.Fatalf("%v, want %v", h, p)
			}
		}
	}
}
