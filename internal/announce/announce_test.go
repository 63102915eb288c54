package announce

import (
	"os"
	"strings"
	"testing"
)

func TestSelf(t *testing.T) {
	m, err := Self("job", "1-2-3", 42)
	if err != nil {
		t.Fatal(err)
	}
	if m.PID != os.Getpid() || m.StartTicks == 0 || m.PIDNamespace == 0 || m.LoadedNs != 42 {
		t.Errorf("%+v", m)
	}
	back, err := ParseJVM(Encode(m))
	if err != nil || back != m {
		t.Errorf("read back %+v, %v; want %+v", back, err, m)
	}
	a := Answer{Version: Version, Observer: "shadow serve on h", FromNs: 7}
	if back, err := ParseAnswer(Encode(a)); err != nil || back != a {
		t.Errorf("read back %+v, %v", back, err)
	}
}

func TestParseRefuses(t *testing.T) {
	good, err := Self("job", "1-2-3", 42)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*JVM){
		"another version":       func(m *JVM) { m.Version++ },
		"a session with a path": func(m *JVM) { m.Session = "../job" },
		"no session":            func(m *JVM) { m.Session = "" },
		"a process with a dot":  func(m *JVM) { m.Process = "a.b" },
		"no process":            func(m *JVM) { m.Process = "" },
		"a host with a subject": func(m *JVM) { m.HostID = "a.>" },
		"no host":               func(m *JVM) { m.HostID = "" },
		"process 0":             func(m *JVM) { m.PID = 0 },
		"a negative process":    func(m *JVM) { m.PID = -1 },
		"a huge process":        func(m *JVM) { m.PID = maxPID + 1 },
		"a time before boot":    func(m *JVM) { m.LoadedNs = -1 },
	} {
		m := good
		change(&m)
		if _, err := ParseJVM(Encode(m)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, text := range []string{"", "{}", "[]", "null", `{"version":1}`, strings.Repeat(" ", maxBytes+1) + "{}"} {
		if _, err := ParseJVM([]byte(text)); err == nil {
			t.Errorf("%.20q is accepted", text)
		}
	}
	for _, a := range []Answer{{}, {Version: Version, FromNs: -1}, {Version: Version, Observer: strings.Repeat("x", maxName+1)}} {
		if _, err := ParseAnswer(Encode(a)); err == nil {
			t.Errorf("%.40v is accepted", a)
		}
	}
}

// Whatever arrives, what is accepted can be a subject, a file's name and a process's number.
func FuzzParse(f *testing.F) {
	if m, err := Self("job", "1-2-3", 42); err == nil {
		f.Add(Encode(m))
	}
	f.Add(Encode(Answer{Version: Version, Observer: "o", FromNs: 1}))
	f.Add([]byte(`{"version":1,"pid":1e9}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ParseJVM(b); err == nil {
			if strings.ContainsAny(m.Session+m.Process, "/\x00 *>") || strings.ContainsAny(m.HostID, "./*> ") || m.PID < 1 || m.PID > maxPID {
				t.Errorf("%q: %+v", b, m)
			}
		}
		if a, err := ParseAnswer(b); err == nil && (a.FromNs < 0 || len(a.Observer) > maxName) {
			t.Errorf("%q: %+v", b, a)
		}
	})
}
