package predict

import (
	"cmp"
	"slices"
)

// byStart are the indexes of units in the order of their starts.
func byStart(list []Unit) []int {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(list[a].Start, list[b].Start), cmp.Compare(a, b)) })
	return order
}

// Sort brings units into the order of their submissions, as Of wants them. Their parents are those of the list.
func Sort(list []Unit) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[a].Due, list[b].Due), cmp.Compare(list[a].Start, list[b].Start))
	})
	at := make([]int32, len(list))
	sorted := make([]Unit, len(list))
	for to, from := range order {
		sorted[to], at[from] = list[from], int32(to)
	}
	for i := range sorted {
		if p := sorted[i].Parent; p > 0 {
			sorted[i].Parent = at[p-1] + 1
		}
	}
	copy(list, sorted)
}
