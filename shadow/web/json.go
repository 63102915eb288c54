package web

import (
	"encoding/json"
	"fmt"
	"io"

	"stackagent/internal/harmless"
)

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(harmless.JSON(w))
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
