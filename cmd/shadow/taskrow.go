package main

import "strconv"

func uintCell(n *uint64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(*n, 10)
}

func textCell(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
