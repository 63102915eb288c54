package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"stackagent/scripts/bench/measure"
)

// hotspot holds the fields used of a row of `shadow hotspots --format json`.
type hotspot struct {
	Class      string `json:"class"`
	Created    uint64 `json:"created"`
	Executions uint64 `json:"executions"`
	Summarised uint64 `json:"summarised"`
}

func countSession(ctx context.Context, shadow, dir, class string) (Count, error) {
	r, err := measure.Run(ctx, measure.Command{Args: []string{shadow, "hotspots", dir, "--format", "json"}})
	if err != nil {
		return Count{}, err
	}
	var rows []hotspot
	if err := json.Unmarshal([]byte(r.Stdout), &rows); err != nil {
		return Count{}, fmt.Errorf("reading the hotspots of %s: %w", dir, err)
	}
	for _, row := range rows {
		if row.Class == class {
			return Count{Events: row.Executions + row.Created, OneByOne: 1 - float64(row.Summarised)/float64(row.Executions)}, nil
		}
	}
	return Count{OneByOne: math.NaN()}, nil
}

// countTrace counts a recording's trace events, one per call.
func countTrace(ctx context.Context, p Program, r Run, _ string) (Count, error) {
	out, err := measure.Run(ctx, measure.Command{Args: []string{p.JDK.Tool("jfr"), "summary", r.Files}})
	if err != nil {
		return Count{}, err
	}
	n, err := parseSummary(out.Stdout)
	return Count{Events: n, OneByOne: 1}, err
}

// parseSummary finds the number of method trace events in the output of `jfr summary`.
func parseSummary(text string) (uint64, error) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 3 && (f[0] == "jdk.MethodTrace" || f[0] == "profiler.MethodTrace") {
			n, err := strconv.ParseUint(f[1], 10, 64)
			if err != nil {
				return 0, fmt.Errorf("the number of %s events: %w", f[0], err)
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("no method trace events in the summary of the recording")
}

// countTiming reads the invocations that method timing counted.
func countTiming(ctx context.Context, p Program, r Run, _ string) (Count, error) {
	out, err := measure.Run(ctx, measure.Command{Args: []string{p.JDK.Tool("jfr"), "view", "--width", "300", "method-timing", r.Files}})
	if err != nil {
		return Count{}, err
	}
	return parseTiming(out.Stdout)
}

// parseTiming reads the table of `jfr view method-timing`: lines of a method,
// its invocations and three times.
func parseTiming(text string) (Count, error) {
	var c Count
	rows := 0
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		at := -1
		for i, word := range f {
			if strings.HasSuffix(word, ")") {
				at = i
			}
		}
		if at < 0 || at+1 >= len(f) {
			continue
		}
		n, err := strconv.ParseUint(strings.ReplaceAll(f[at+1], ",", ""), 10, 64)
		if err != nil {
			return c, fmt.Errorf("the invocations in %q: %w", strings.TrimSpace(line), err)
		}
		rows++
		c.Events += n
	}
	if rows == 0 {
		return c, fmt.Errorf("no methods in the recording's table of method timing")
	}
	return c, nil
}
