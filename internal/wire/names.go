package wire

import "fmt"

// MaxSession is the longest session name, in bytes.
const MaxSession = 128

// ValidSession checks the name of a session, which becomes a token of a NATS
// subject and the name of a folder: 1 to 128 of A-Z a-z 0-9 . _ -, no dot at
// either end and no two dots in a row.
func ValidSession(name string) error {
	if name == "" {
		return fmt.Errorf("session name is empty")
	}
	if len(name) > MaxSession {
		return fmt.Errorf("session name of %d bytes is longer than %d", len(name), MaxSession)
	}
	for i := 0; i < len(name); i++ {
		if !sessionByte(name[i]) {
			return fmt.Errorf("session name %q holds %q: allowed are A-Z a-z 0-9 . _ -", name, name[i])
		}
		if name[i] == '.' && (i == 0 || i == len(name)-1 || name[i-1] == '.') {
			return fmt.Errorf("session name %q has a dot at an end or two dots in a row: want 1 to %d of A-Z a-z 0-9 . _ - without", name, MaxSession)
		}
	}
	return nil
}

// MaxProcess is the longest name of a process, in bytes.
const MaxProcess = 64

// ValidProcess checks the name that a JVM gives itself, which travels in a
// header and in message ids: at most 64 of A-Z a-z 0-9 _ -. Empty is allowed:
// the sender does not say.
func ValidProcess(name string) error {
	if len(name) > MaxProcess {
		return fmt.Errorf("process name of %d bytes is longer than %d", len(name), MaxProcess)
	}
	for i := 0; i < len(name); i++ {
		if !sessionByte(name[i]) || name[i] == '.' {
			return fmt.Errorf("process name %q holds %q: allowed are A-Z a-z 0-9 _ -", name, name[i])
		}
	}
	return nil
}

func sessionByte(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' ||
		c == '.' || c == '_' || c == '-'
}
