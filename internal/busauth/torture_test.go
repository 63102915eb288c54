package busauth_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"stackagent/internal/busauth"
	"stackagent/internal/testnats"
)

const stranger = 65534

// TestTortureStrangers: who holds the bus's port decides whether a client says anything there.
func TestTortureStrangers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("0123456789abcdef"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		uid   int
		auth  busauth.Auth
		trust bool
	}{
		"our own":                       {0, busauth.Auth{}, true},
		"a stranger":                    {stranger, busauth.Auth{}, false},
		"the owner of the token":        {stranger, busauth.Auth{SecretFile: file}, true},
		"the owner of the NKEY":         {stranger, busauth.Auth{NKeyFile: file}, true},
		"the owner of the credentials":  {stranger, busauth.Auth{CredsFile: file}, true},
		"one who is named":              {stranger, busauth.Auth{Owner: fmt.Sprint(stranger)}, true},
		"another than the one named":    {stranger, busauth.Auth{Owner: "12345"}, false},
		"anybody, as it is said":        {stranger, busauth.Auth{Owner: busauth.AnyOwner}, true},
		"another than the file's owner": {stranger - 1, busauth.Auth{SecretFile: file}, false},
	} {
		for _, host := range []string{"127.0.0.1", "::1"} {
			t.Run(name+" "+host, func(t *testing.T) {
				address := net.JoinHostPort(host, fmt.Sprint(testnats.FreePort(t)))
				if l, err := net.Listen("tcp", address); err != nil {
					t.Skip("this machine has no IPv6")
				} else {
					l.Close()
				}
				s := testnats.Squat(t, address, c.uid)
				d, err := c.auth.Dialer()
				if err != nil {
					t.Fatal(err)
				}
				conn, err := d.Dial("tcp", address)
				if err == nil {
					conn.Close()
				}
				if trusted := err == nil; trusted != c.trust || !trusted && (!errors.Is(err, busauth.ErrStranger) || !errors.Is(d.Refused(), busauth.ErrStranger)) {
					t.Errorf("%v, %v", err, d.Refused())
				}
				s.End()
				if got := s.Got(); len(got) > 0 {
					t.Errorf("it was sent %q", got)
				}
			})
		}
	}
}

// A server that listens on all addresses, of both kinds, is found, too.
func TestDialAny(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:0", "[::]:0", "127.0.0.1:0"} {
		l, err := net.Listen("tcp", listen)
		if err != nil {
			continue
		}
		go func() {
			for {
				if _, err := l.Accept(); err != nil {
					return
				}
			}
		}()
		d, err := busauth.Auth{}.Dialer()
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port))
		if err != nil {
			t.Errorf("%s: %v", listen, err)
			continue
		}
		c.Close()
		l.Close()
	}
}

func TestSeeds(t *testing.T) {
	seed, err := busauth.NewSeed()
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]bool{seed: true, "0123456789abcdef0123456789abcdef": false, "SUNOSEED": false, "": false} {
		if busauth.IsSeed(secret) != want {
			t.Errorf("%.4q is a seed: %v", secret, !want)
		}
	}
	var a busauth.Auth
	a.SetSecret(seed)
	if a.Seed != seed || a.Token != "" {
		t.Errorf("a seed is taken for a token")
	}
	if got := busauth.Inbox("a.b > *"); got != "_INBOX.a_b____" {
		t.Errorf("inbox %q", got)
	}
}
