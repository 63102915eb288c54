package kernel

// nextWord cuts the first word off b; empty at the end.
func nextWord(b []byte) (first, rest []byte) {
	i := 0
	for i < len(b) && blank(b[i]) {
		i++
	}
	from := i
	for i < len(b) && !blank(b[i]) {
		i++
	}
	return b[from:i], b[i:]
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// number parses a decimal number at the begin of b and returns what follows it. ok is false if there is none, or it is too large.
func number(b []byte) (n int64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		if n > (1<<63-1-9)/10 {
			return 0, b, false
		}
		n = 10*n + int64(b[i]-'0')
		i++
	}
	return n, b[i:], i > 0
}
