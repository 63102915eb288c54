package checksum

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	type doc struct {
		Name   string         `json:"name"`
		Map    map[string]int `json:"map"`
		Digest string         `json:"digest,omitempty"`
	}
	data, err := JSON(doc{Name: "a\n  \"digest\": \"x", Map: map[string]int{"k": 1}})
	if err != nil {
		t.Fatal(err)
	}
	if err := CheckJSON(data); err != nil {
		t.Fatalf("%v:\n%s", err, data)
	}
	var back doc
	if err := json.Unmarshal(data, &back); err != nil || back.Map["k"] != 1 || len(back.Digest) != 64 {
		t.Errorf("read back %+v, %v", back, err)
	}
	for i := range data {
		for _, flip := range []byte{1, 0x20, 0x80} {
			bad := bytes.Clone(data)
			bad[i] ^= flip
			if !errors.Is(CheckJSON(bad), ErrMismatch) {
				t.Fatalf("byte %d flipped by %#x goes unnoticed", i, flip)
			}
		}
		if !errors.Is(CheckJSON(data[:i]), ErrMismatch) {
			t.Fatalf("cut to %d bytes goes unnoticed", i)
		}
	}
	if !errors.Is(CheckJSON(append(data, '\n')), ErrMismatch) {
		t.Error("an appended byte goes unnoticed")
	}
	if _, err := JSON(struct{}{}); err == nil {
		t.Error("an object without fields is sealed")
	}
}

func TestFile(t *testing.T) {
	text := strings.Repeat("abc", 1<<20)
	w := NewWriter(new(bytes.Buffer))
	for i := 0; i < len(text); i += 777 {
		if _, err := w.Write([]byte(text[i:min(len(text), i+777)])); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Of(strings.NewReader(text))
	if err != nil || got != w.File() || got.Bytes != int64(len(text)) {
		t.Errorf("%+v and %+v, %v", got, w.File(), err)
	}
	if w.File().Check(got) != nil {
		t.Error("the same content does not match")
	}
	for _, other := range []string{text[1:], "x" + text[1:]} {
		if f, _ := Of(strings.NewReader(other)); !errors.Is(w.File().Check(f), ErrMismatch) {
			t.Error("other content matches")
		}
	}
}
