// Package store writes and reads the folder of a session: a manifest and
// Parquet parts named by the range of batch sequences that they hold.
//
// A part is written aside, synced and renamed, then the manifest likewise. A
// crash therefore leaves whole parts, and a replay of what was not yet
// acknowledged is harmless: what a part already holds is not written again.
// docs/format-session.md describes every file and column.
package store

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// MaxSeq bounds a batch's sequence number; larger ones are not believed.
const MaxSeq = 1 << 62

// ErrBadName is a session name that could not be a folder or a subject.
var ErrBadName = errors.New("not a valid session name")

// A session's name becomes a folder and the end of a NATS subject, and comes
// from another process: no separators, no leading dot, no wildcards.
var nameRE = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_@=,+-]*(\.[A-Za-z0-9_@=,+-]+)*$`)

const maxName = 120

// ValidateName tells whether s can name a session.
func ValidateName(s string) error {
	if len(s) > maxName || !nameRE.MatchString(s) {
		if len(s) > 40 {
			s = s[:40] + "..."
		}
		return fmt.Errorf("%w: %q (letters, digits, _ @ = , + - and single dots inside, at most %d characters)", ErrBadName, s, maxName)
	}
	return nil
}

// Table is one of the tables of a session.
type Table uint8

// The tables of a session.
const (
	Executions Table = iota
	Creations
	Classes
	Threads
	Pauses
	OSThreads
	numTables
)

var tableNames = [numTables]string{"executions", "creations", "classes", "threads", "pauses", "os_threads"}

// String is the prefix of the table's files.
func (t Table) String() string {
	if t < numTables {
		return tableNames[t]
	}
	return "table " + strconv.Itoa(int(t))
}

var partRE = regexp.MustCompile(`^(executions|creations|classes|threads|pauses|os_threads)-([1-9][0-9]{0,18})-([1-9][0-9]{0,18})\.parquet$`)

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
