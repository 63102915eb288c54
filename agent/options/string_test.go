package options

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	for want, settings := range map[string][]Setting{
		"":                                nil,
		"bus=nats://h:1,task=a.B#c(Ld;)V": {{"bus", "nats://h:1"}, {"task", "a.B#c(Ld;)V"}},
		`include=a\\,detail=all`:          {{"include", `a\`}, {"detail", "all"}},
		`creds=/a\,b`:                     {{"creds", "/a,b"}},
	} {
		if got := String(settings); got != want {
			t.Errorf("%v: %q, want %q", settings, got, want)
		}
	}
}

// FuzzString checks that what a user gives arrives unchanged: one value, its option string, and the
// value that the agent parses from it, with another option behind it.
func FuzzString(f *testing.F) {
	for _, value := range []string{`a\`, `a,detail=all`, `a\,b`, `\\`, `,`, "/x y", "a;b", "\n", "wall+cpu"} {
		for i := range all {
			f.Add(i, value)
		}
	}
	f.Fuzz(func(t *testing.T, i int, value string) {
		option := &all[uint(i)%uint(len(all))]
		last := Setting{"children", "true"}
		if option.Key == last.Key || value == "" || option.Check(value) != nil {
			return
		}
		want := Default()
		if problem := option.problem(&want, value); problem != "" {
			t.Fatalf("%s: Check accepts %q: %s", option.Key, value, problem)
		}
		want.Children = true
		got, err := Parse(String([]Setting{{option.Key, value}, last}))
		if partners(err) {
			err = nil // an option that needs a partner, such as tlscert and tlskey
		}
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s=%q: %v\ngot  %+v\nwant %+v", option.Key, value, err, got, want)
		}
	})
}

// partners reports whether err is only about options that go together.
func partners(err error) bool {
	var list Problems
	return errors.As(err, &list) && !slices.ContainsFunc(list, func(e error) bool { return !strings.Contains(e.Error(), "together") })
}

func TestForChildren(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"session=a":                            "",
		"bus=nats://h:1,session=a,strict=true": "bus=nats://h:1,strict=true",
		`creds=/a\,b\\c,session=x`:             `creds=/a\,b\\c`,
	} {
		if got := ForChildren(in); got != want {
			t.Errorf("ForChildren(%q) = %q, want %q", in, got, want)
		}
	}
}
