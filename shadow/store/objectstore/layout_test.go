package objectstore

import (
	"strings"
	"testing"
	"time"
)

func TestSafeName(t *testing.T) {
	for name, want := range map[string]string{
		"":           "unknown",
		"orders":     "orders",
		"a.b_c-9":    "a.b_c-9",
		"a/b":        "a_b_",
		"..":         ".._",
		"naïve":      "na_ve_",
		"unknown":    "unknown_",
		"date=1/x":   "date_1_x_",
		"\x00\xff..": "__.._",
	} {
		got := SafeName(name)
		if hashed := strings.HasSuffix(want, "_"); got != want && (!hashed || !strings.HasPrefix(got, want) || len(got) != len(want)+12) {
			t.Errorf("SafeName(%q) = %q, want %q", name, got, want)
		}
	}
	if SafeName("a/b") == SafeName("a?b") {
		t.Error("two names share a key")
	}
	if long := SafeName(strings.Repeat("x", 1000)); len(long) > 150 {
		t.Errorf("a long name takes %d bytes", len(long))
	}
}

func TestSessionPrefix(t *testing.T) {
	at := time.Date(2026, 3, 1, 0, 30, 0, 0, time.FixedZone("", 3600))
	if got, want := SessionPrefix(at, "orders", "host-1"), "sessions/date=2026-02-28/service=orders/session=host-1/"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
