package attach

import (
	"errors"
	"strings"
	"testing"
)

// The bytes are those that the JDK's own clients write (VirtualMachineImpl of
// JDK 17 for the first version, HotSpotVirtualMachine of JDK 25 for the second).
func TestRequest(t *testing.T) {
	for _, c := range []struct {
		version int
		args    []string
		want    string
	}{
		{version1, []string{"/a.so", "true", "x=1"}, "1\x00load\x00/a.so\x00true\x00x=1\x00"},
		{version1, nil, "1\x00load\x00\x00\x00\x00"},
		{version2, []string{"/a.so", "true", "x=1"}, "2\x0020\x00load\x00/a.so\x00true\x00x=1\x00"},
	} {
		got, err := request(c.version, "load", c.args...)
		if err != nil || string(got) != c.want {
			t.Errorf("version %d: %q, %v, want %q", c.version, got, err, c.want)
		}
	}
	long := strings.Repeat("x", maxArgument+1)
	if _, err := request(version1, "load", long); err == nil {
		t.Error("version 1 took a long argument")
	}
	if b, err := request(version2, "load", long); err != nil || !strings.HasPrefix(string(b), "2\x001031\x00load\x00") {
		t.Errorf("version 2: %.20q, %v", b, err)
	}
	if _, err := request(version2, "load", "a\x00b"); err == nil {
		t.Error("a zero byte was taken")
	}
}

func TestReply(t *testing.T) {
	var refused *RefusedError
	var code *CodeError
	if text, err := reply(strings.NewReader("0\nreturn code: 0\n"), "load"); err != nil || loadResult(text) != nil {
		t.Errorf("loaded: %q, %v", text, err)
	}
	if text, err := reply(strings.NewReader("0\nreturn code: 3\n"), "load"); err != nil || !errors.As(loadResult(text), &code) || code.Code != 3 {
		t.Errorf("the agent's code: %q, %v, %+v", text, err, code)
	}
	// JDK 21 and later, a library that cannot be opened.
	if text, err := reply(strings.NewReader("0\n/x.so was not loaded.\n/x.so: cannot open shared object file\n"), "load"); err != nil ||
		!errors.As(loadResult(text), &refused) || !strings.Contains(refused.Message, "cannot open") {
		t.Errorf("not loaded: %q, %v", text, err)
	}
	if _, err := reply(strings.NewReader("100\nDynamic agent loading is not enabled.\n"), "load"); !errors.As(err, &refused) || refused.Code != 100 {
		t.Errorf("refused: %v", err)
	}
	if _, err := reply(strings.NewReader(""), "load"); !errors.Is(err, errNoAnswer) {
		t.Errorf("hung up: %v", err)
	}
	for _, bad := range []string{"0", "x\ny", "99999999999999999999\n"} {
		if _, err := reply(strings.NewReader(bad), "load"); err == nil || errors.As(err, &refused) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestNewestVersion(t *testing.T) {
	for text, want := range map[string]int{"2 streaming": 2, "2": 2, "1": 1, "": 1, "3 x": 1, "22": 1} {
		if got, err := newestVersion(text, nil); err != nil || got != want {
			t.Errorf("%q: version %d, %v, want %d", text, got, err, want)
		}
	}
	if got, err := newestVersion("", &RefusedError{"getversion", 101, "Operation getversion not recognized!"}); err != nil || got != version1 {
		t.Errorf("JDK 17: %d, %v", got, err)
	}
	if _, err := newestVersion("", errors.New("away")); err == nil {
		t.Error("an error was lost")
	}
}

// Whatever a process answers, and whatever its status says, ends in a value or an error.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{"0\nreturn code: 0\n", "100\nno\n", "0\n2 streaming\n", "Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNSpid:\t7\t1\nSigCgt:\t000000000000000f\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := reply(strings.NewReader(string(b)), "load")
		if err == nil {
			_ = loadResult(text)
			if v, err := newestVersion(text, nil); err != nil || v != version1 && v != version2 {
				t.Errorf("version %d, %v", v, err)
			}
		}
		var p Process
		if p.readStatus(b) == nil && !strings.Contains(string(b), "Uid") {
			t.Errorf("a status without a user was taken: %q", b)
		}
	})
}
