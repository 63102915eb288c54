package store

import "testing"

func TestParseTraceID(t *testing.T) {
	const good = "0af7651916cd43dd8448eb211c80319c"
	if got, err := ParseTraceID(good); err != nil || got.String() != good {
		t.Errorf("%s: %v %v", good, got, err)
	}
	for _, bad := range []string{"", good[:31], good + "0", "00000000000000000000000000000000", "0af7651916cd43dd8448eb211c80319g", "\x1b[31m", good[:30] + "é"} {
		if got, err := ParseTraceID(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func TestParseSpanID(t *testing.T) {
	const good = "b7ad6b7169203331"
	if got, err := ParseSpanID(good); err != nil || got.String() != good {
		t.Errorf("%s: %v %v", good, got, err)
	}
	for _, bad := range []string{"", good[:15], good + "0", "b7ad6b716920333g", "\x1b[31m", good[:14] + "é"} {
		if got, err := ParseSpanID(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
