package jvmprocess

import (
	"os"
	"strings"
	"testing"

	"stackagent/internal/attach"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// Neither a number nor a host's name alone says which process a JVM is.
func TestFinder(t *testing.T) {
	self := os.Getpid()
	session := func(host string, pid int) ingest.Progress {
		return ingest.Progress{JVM: store.JVM{Host: host, PID: pid}}
	}
	inside := &attach.Process{PID: self, InnerPID: 1}
	for name, c := range map[string]struct {
		finder   *Finder
		session  ingest.Progress
		launched bool
		pid      int
		says     string
	}{
		"started here":              {&Finder{Host: "here"}, session("here", self), true, self, ""},
		"no JVM":                    {&Finder{Host: "here"}, session("here", self), false, 0, "is no JVM"},
		"another host":              {&Finder{Host: "here"}, session("there", self), false, 0, `on host "there"`},
		"another host, same number": {&Finder{Host: "here"}, session("there", self), true, 0, `on host "there"`},
		"hosts without names":       {&Finder{}, session("", self), true, 0, "on host"},
		"a container":               {&Finder{Host: "here", Attached: inside}, session("there", 1), false, self, ""},
		"not the one attached to":   {&Finder{Host: "here", Attached: inside}, session("there", 2), false, 0, `on host "there"`},
	} {
		pid, err := c.finder.Find(c.session, c.launched)
		if c.says == "" && (err != nil || pid != c.pid) {
			t.Errorf("%s: process %d, %v; want %d", name, pid, err, c.pid)
		}
		if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: process %d, %v; want %q", name, pid, err, c.says)
		}
	}
}
