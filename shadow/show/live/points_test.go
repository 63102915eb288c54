package live

import (
	"encoding/json"
	"math"
	"testing"
)

func TestPoints(t *testing.T) {
	in := Points{0, 12345678, 0.123456, float32(math.NaN()), -2}
	b, err := json.Marshal(in)
	if err != nil || string(b) != "[0,12345678,0.1235,null,-2]" {
		t.Fatalf("%s, %v", b, err)
	}
	var out Points
	if err := json.Unmarshal(b, &out); err != nil || len(out) != len(in) {
		t.Fatalf("%v, %v", out, err)
	}
	for i, v := range out {
		if want := []float32{0, 12345678, 0.1235, float32(math.NaN()), -2}[i]; v != want && !(v != v && want != want) {
			t.Errorf("value %d is %v, want %v", i, v, want)
		}
	}
}
