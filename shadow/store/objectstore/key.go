package objectstore

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a key. S3 allows 1,024 bytes, file systems 255 for a name.
const (
	maxKey  = 1024
	maxName = 255
)

// uploads is where a folder keeps what it is still writing. No object has a key below it.
const uploads = ".uploads"

// CheckKey refuses what could lead out of a store's root, or what only one of the implementations could keep.
func CheckKey(key string) error {
	if len(key) > maxKey || !utf8.ValidString(key) || strings.ContainsFunc(key, unicode.IsControl) {
		return fmt.Errorf("%.80q is not a key: want at most %d bytes of UTF-8 without control characters", key, maxKey)
	}
	for i, name := range strings.Split(key, "/") {
		if name == "" || name == "." || name == ".." || len(name) > maxName || strings.Contains(name, `\`) || i == 0 && name == uploads {
			return fmt.Errorf("%.80q is not a key: it has the element %.80q", key, name)
		}
	}
	return nil
}

// checkSize refuses content that is shorter than what is promised, before anything is sent, and goes to its begin.
func checkSize(content io.Seeker, size int64) error {
	end, err := content.Seek(0, io.SeekEnd)
	if err == nil {
		_, err = content.Seek(0, io.SeekStart)
	}
	if err == nil && (size < 0 || end < size) {
		err = fmt.Errorf("has %d bytes, want %d: %w", end, size, io.ErrUnexpectedEOF)
	}
	return err
}

// checkPrefix is for a prefix of keys, which may end in the middle of a name or after a slash, or be empty.
func checkPrefix(prefix string) error {
	if whole := strings.TrimSuffix(prefix, "/"); whole != "" {
		return CheckKey(whole)
	} else if prefix != "" {
		return fmt.Errorf("%q is not the beginning of a key", prefix)
	}
	return nil
}
