package text

import "strings"

// DidYouMean proposes the word that the user probably meant by got, if there is one.
func DidYouMean(got string, words []string) string {
	const longest = 32 // a longer word is not a typing error
	if len(got) > longest {
		return ""
	}
	best, least := "", 3
	for _, w := range words {
		if d := distance(strings.ToLower(got), w); d < least && d < len(w) {
			best, least = w, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance returns the number of letters to insert, delete, change or swap with their neighbour
// to turn a into b (the optimal string alignment distance).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
