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

// TestWithout: a hole cuts a stop, and takes what a pause stands in from the rest of it.
func TestWithout(t *testing.T) {
	stops := []activity.Span{{From: 0, To: 100}, {From: 200, To: 210}, {From: 220, To: 230}, {From: 240, To: 250}}
	holes := []activity.Span{{From: 10, To: 20}, {From: 30, To: 90}, {From: 195, To: 225}, {From: 245, To: 260}}
	want := []activity.Span{{From: 0, To: 10}, {From: 20, To: 30}, {From: 90, To: 100}, {From: 225, To: 230}, {From: 240, To: 245}}
	got := Without(stops, holes)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := Around(got, []activity.Span{{From: 92, To: 98}}), want[2:3]; !reflect.DeepEqual(got, want) {
		t.Errorf("around a pause: %v, want %v", got, want)
	}
}
