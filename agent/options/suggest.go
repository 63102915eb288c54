package options

import (
	"maps"
	"slices"
	"strings"

	"stackagent/internal/text"
)

func unknown(key string) string {
	names := slices.Sorted(maps.Keys(byKey))
	return "not an option" + text.DidYouMean(key, names) + "; options are " + strings.Join(names, ", ")
}
