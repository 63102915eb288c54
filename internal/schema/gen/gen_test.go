package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What is generated is what the declarations say.
func TestGeneratedFilesAreFresh(t *testing.T) {
	const root = "../../.."
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Error(err)
		} else if !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./internal/schema", name)
		}
	}
}
