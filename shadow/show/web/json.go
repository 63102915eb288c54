package web

import (
	"encoding/json"
	"fmt"
	"io"

	"stackagent/internal/text"
)

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(text.JSON(w))
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
