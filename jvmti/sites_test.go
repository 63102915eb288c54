package jvmti_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/agent/instrument"
	"stackagent/agent/jimage"
	"stackagent/internal/settings"
	"stackagent/internal/units"
)

type anySite struct{}

func (anySite) Add(instrument.Site) int32 { return 1 }

// noTasks is a hierarchy in which only the platform's types are tasks.
type noTasks struct{}

func (noTasks) Kinds(string) (units.Kinds, bool) { return 0, true }

// asProgram makes a class of the platform one of a program, and most of what it refers to.
func asProgram(class []byte, name string) []byte {
	entry := append(binary.BigEndian.AppendUint16([]byte{1}, uint16(len(name))), name...)
	renamed := bytes.Clone(entry)
	renamed[3] = '_'
	class = bytes.ReplaceAll(class, entry, renamed)
	for _, prefix := range []string{"sun/", "jdk/", "javax/"} {
		class = bytes.ReplaceAll(class, []byte(prefix), []byte("_"+prefix[1:]))
	}
	return class
}

// The classes of the JDK are read as if they were a program's. If the weaver finds a site in a class, the C reader must
// say that there may be one. It says so of few others, which go to the Go side for nothing.
func TestSitesAgree(t *testing.T) {
	image, err := jimage.Open(filepath.Join(os.Getenv("JAVA_HOME"), "lib", "modules"))
	if err != nil {
		t.Fatalf("JAVA_HOME must name a JDK (make sets it): %v", err)
	}
	defer image.Close()
	reader := startHeaderReader(t)
	options := instrument.Options{Asked: settings.Settings{Submissions: true}, Sites: anySite{}}
	const step = 6 // every sixth class is tried
	n, found, more, missed := 0, 0, 0, 0
	err = image.Each(func(_, name string, class []byte) error {
		if n++; n%step != 0 || strings.HasSuffix(name, "-info") {
			return nil
		}
		class = asProgram(class, name)
		plan, err := instrument.NewPlan(instrument.Input{Class: class, Supers: noTasks{}}, options)
		if err != nil {
			return nil // it is refused in any case
		}
		word, err := strconv.Atoi(strings.Fields(reader.read(t, class))[1])
		if err != nil {
			return err
		}
		may, has := word&hasSites != 0, plan != nil && plan.Sites > 0
		switch {
		case has && may:
			found++
		case has:
			if missed++; missed < 10 {
				t.Errorf("%s has sites, of which the C reader says nothing:\n%v", name, plan)
			}
		case may:
			more++
			if testing.Verbose() && more < 40 {
				t.Logf("%s has no sites", name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("of %d classes %d have sites, %d more may have some", n/step, found, more)
	if found < 500 || more*20 > found {
		t.Errorf("%d classes with sites, and %d without that may have some", found, more)
	}
}
