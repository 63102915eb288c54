package gc

import (
	"reflect"
	"testing"

	"stackagent/granularity/activity"
)

// TestAround: stops without a pause in them are none of the collector's.
func TestAround(t *testing.T) {
	stops := []activity.Span{{From: 0, To: 10}, {From: 20, To: 30}, {From: 40, To: 60}, {From: 70, To: 80}, {From: 90, To: 95}}
	pauses := []activity.Span{{From: 10, To: 20}, {From: 25, To: 30}, {From: 45, To: 50}, {From: 55, To: 60}, {From: 80, To: 90}, {From: 94, To: 95}}
	want := []activity.Span{stops[1], stops[2], stops[4]}
	if got := Around(stops, pauses); !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
