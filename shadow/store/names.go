// Package store writes and reads the folder of a session: a manifest and
// Parquet parts named by the range of batch sequences that they hold.
//
// A part is written aside, synced and renamed, then the manifest is too. A
// crash therefore leaves whole parts, and a replay of what was not yet
// acknowledged is harmless: what a part already holds is not written again.
// docs/internals/format-session.md describes every file and column.
package store

import (
	"errors"
	"fmt"
	"iter"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"stackagent/internal/wire"
)

// MaxSeq bounds a batch's sequence number; larger ones are not believed.
const MaxSeq = 1 << 48

// ErrBadName is a session name that could not be a folder or a subject.
var ErrBadName = errors.New("not a valid session name")

// maxFolder is the longest folder name: a session's name and a number.
const maxFolder = wire.MaxSession + 16

// ValidateName reports whether s can name a session: it becomes a folder and the
// end of a NATS subject, and comes from another process.
func ValidateName(s string) error {
	if err := wire.ValidSession(s); err != nil {
		return fmt.Errorf("%w: %w", ErrBadName, err)
	}
	return checkFolder(s)
}

// checkFolder guards the names of folders against leaving the store or
// clashing with its own files.
func checkFolder(s string) error {
	if err := wire.ValidSession(s[:min(len(s), wire.MaxSession)]); err != nil || len(s) > maxFolder {
		return fmt.Errorf("%w: %.40q cannot be a folder", ErrBadName, s)
	}
	if s == ManifestName {
		return fmt.Errorf("%w: %q is taken by the store", ErrBadName, s)
	}
	return nil
}

// Table is one of the tables of a session.
type Table uint8

// Tables are all of them.
func Tables() iter.Seq[Table] {
	return func(yield func(Table) bool) {
		for t := range numTables {
			if !yield(t) {
				return
			}
		}
	}
}

// String is the prefix of the table's files.
func (t Table) String() string {
	if t < numTables {
		return tableNames[t]
	}
	return "table " + strconv.Itoa(int(t))
}

var partRE = regexp.MustCompile(`^(` + strings.Join(tableNames[:], "|") + `)-([1-9][0-9]{0,18})-([1-9][0-9]{0,18})\.parquet$`)

// PartName is the file name of the part of t that holds the batches from..to.
func PartName(t Table, from, to uint64) string {
	return fmt.Sprintf("%s-%d-%d.parquet", t, from, to)
}

// ParsePartName is the inverse of PartName.
func ParsePartName(name string) (t Table, r Range, ok bool) {
	m := partRE.FindStringSubmatch(name)
	if m == nil {
		return 0, Range{}, false
	}
	for i, n := range tableNames {
		if n == m[1] {
			t = Table(i)
		}
	}
	var err1, err2 error
	r.From, err1 = strconv.ParseUint(m[2], 10, 64)
	r.To, err2 = strconv.ParseUint(m[3], 10, 64)
	if err1 != nil || err2 != nil || r.To < r.From || r.To > MaxSeq {
		return 0, Range{}, false
	}
	return t, r, true
}

// maxThreadName bounds the name of a thread, in bytes. The agent cuts names much earlier; another writer may not.
const maxThreadName = 4 << 10

// CutName is the name of a thread, cut to what a session keeps. No character is cut in two.
func CutName(name string) string {
	if len(name) <= maxThreadName {
		return name
	}
	end := maxThreadName
	for end > maxThreadName-utf8.UTFMax && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}
