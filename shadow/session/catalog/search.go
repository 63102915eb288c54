package catalog

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cursor is a place in a list of sessions that stays when sessions come and go.
type Cursor struct {
	started time.Time
	folder  string
}

// CursorAt is the place of a session.
func CursorAt(started time.Time, folder string) Cursor { return Cursor{started, folder} }

// String is read by ParseCursor.
func (c Cursor) String() string { return strconv.FormatInt(c.started.UnixNano(), 10) + "~" + c.folder }

// ParseCursor reads a cursor; "" is the begin of the list.
func ParseCursor(s string) (Cursor, error) {
	if s == "" {
		return Cursor{started: time.Unix(0, math.MaxInt64)}, nil
	}
	ns, folder, ok := strings.Cut(s, "~")
	at, err := strconv.ParseInt(ns, 10, 64)
	if !ok || err != nil {
		return Cursor{}, fmt.Errorf("%.40q is not a place in the list", s)
	}
	return Cursor{time.Unix(0, at), folder}, nil
}

// Before reports whether a session stands behind the cursor.
func (c Cursor) Before(started time.Time, folder string) bool {
	if !started.Equal(c.started) {
		return started.Before(c.started)
	}
	return folder > c.folder
}

// Matches reports whether each of the words is part of the session's name, label, labels, program, host, folder or PID, in upper
// or lower case.
func (e *Entry) Matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	all := strings.ToLower(strings.Join([]string{e.Name, e.Note, e.Session, e.Program, e.Host, e.Folder, strconv.Itoa(e.PID), e.Labels.String()}, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, strings.ToLower(w)) })
}
