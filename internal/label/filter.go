package label

import (
	"fmt"
	"path"
	"strings"
)

// Filter chooses sessions by their labels: an empty field takes all, others are globs.
type Filter struct {
	Service, Version, Env string
	Free                  []string // KEY=GLOB; all of them must match
}

// Check returns what is wrong with the filter.
func (f *Filter) Check() error {
	for _, glob := range []string{f.Service, f.Version, f.Env} {
		if _, err := path.Match(glob, ""); err != nil {
			return fmt.Errorf("%q is not a glob", glob)
		}
	}
	for _, pair := range f.Free {
		key, glob, problem := ParsePair(pair)
		if problem == "" {
			problem = CheckKey(key)
		}
		if _, err := path.Match(glob, ""); err != nil && problem == "" {
			problem = fmt.Sprintf("%q is not a glob", glob)
		}
		if problem != "" {
			return fmt.Errorf("label %q: %s", pair, problem)
		}
	}
	return nil
}

// Matches reports whether the filter takes a session with these labels.
func (f *Filter) Matches(l *Labels) bool {
	if !Glob(f.Service, l.Service) || !Glob(f.Version, l.Version) || !Glob(f.Env, l.Env) {
		return false
	}
	for _, pair := range f.Free {
		key, glob, _ := ParsePair(pair)
		if value, ok := l.Free[key]; !ok || !Glob(glob, value) {
			return false
		}
	}
	return true
}

// Glob reports whether a value matches a glob as path.Match knows them, but * stands for slashes too; "" matches all.
func Glob(glob, value string) bool {
	ok, err := path.Match(noSlash.Replace(glob), noSlash.Replace(value))
	return glob == "" || ok && err == nil
}

// noSlash puts a character that no label has in place of slashes.
var noSlash = strings.NewReplacer("/", "\x00")
