package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"stackagent/scripts/bench/measure"
)

// Stats holds the fields used of `shadow stats --format json`.
type Stats struct {
	Tasks struct {
		Created    uint64 `json:"created"`
		Executions uint64 `json:"executions"`
	} `json:"tasks"`
	Lost struct {
		Events uint64 `json:"events"`
	} `json:"lost"`
}

// ReadStats asks shadow for the figures of the session in dir.
func ReadStats(ctx context.Context, shadow, dir string) (s Stats, err error) {
	r, err := measure.Run(ctx, measure.Command{Args: []string{shadow, "stats", dir, "--format", "json"}})
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal([]byte(r.Stdout), &s); err != nil {
		return s, fmt.Errorf("reading the stats of %s: %w", dir, err)
	}
	return s, nil
}
