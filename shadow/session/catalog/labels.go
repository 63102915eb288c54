package catalog

import (
	"path/filepath"
	"strings"
)

// FolderLabels tell session folders apart: their paths without the parts that all share at the beginning and at
// the end. out/threads-1/run-1 and out/threads-2/run-1 are threads-1 and threads-2.
func FolderLabels(dirs []string) []string {
	parts := make([][]string, len(dirs))
	for i, dir := range dirs {
		parts[i] = strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	}
	if len(parts) < 2 {
		return []string{last(parts)}
	}
	for trimEqual(parts, func(p []string) (string, []string) { return p[0], p[1:] }) {
	}
	for trimEqual(parts, func(p []string) (string, []string) { return p[len(p)-1], p[:len(p)-1] }) {
	}
	labels := make([]string, len(parts))
	for i, p := range parts {
		labels[i] = strings.Join(p, "/")
	}
	return labels
}

func last(parts [][]string) string {
	if len(parts) == 0 {
		return ""
	}
	return parts[0][len(parts[0])-1]
}

// trimEqual takes off an end that all have, if something is left of each.
func trimEqual(parts [][]string, cut func([]string) (end string, left []string)) bool {
	first, _ := cut(parts[0])
	for _, p := range parts {
		if end, left := cut(p); end != first || len(left) == 0 {
			return false
		}
	}
	for i, p := range parts {
		_, parts[i] = cut(p)
	}
	return true
}

// ConfigurationOf is the configuration of a run in a folder of repeated runs, as shadow scale makes it: DIR/run-2 is a run of
// DIR. Any other folder is a configuration of its own.
func ConfigurationOf(dir string) string {
	clean := filepath.Clean(dir)
	base := filepath.Base(clean)
	if n, ok := strings.CutPrefix(base, "run-"); ok && n != "" && strings.Trim(n, "0123456789") == "" && filepath.Dir(clean) != "." {
		return filepath.Dir(clean)
	}
	return clean
}
