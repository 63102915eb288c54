package tool

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

func TestLibraryIn(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, arch := range []string{"x64", "arm64"} {
		f, err := w.Create("linux-" + arch + "/libasyncProfiler.so")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("library for " + arch)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	for arch, want := range map[string]string{"amd64": "library for x64", "arm64": "library for arm64"} {
		if got, err := libraryIn(b.Bytes(), hex.EncodeToString(sum[:]), arch); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", arch, got, err)
		}
	}
	if got, err := libraryIn(b.Bytes(), hex.EncodeToString(sum[:]), "s390x"); err == nil {
		t.Errorf("no library for the architecture: %q, want an error", got)
	}
	if got, err := libraryIn(b.Bytes(), asyncProfilerSum, "amd64"); err == nil || !strings.Contains(err.Error(), "SHA-256") {
		t.Errorf("another jar: %q, %v, want an error about its SHA-256", got, err)
	}
}
