package record

import (
	"fmt"
	"os"
	"path/filepath"

	"stackagent/internal/spool"
)

// TokenVariable is where an agent looks for the bus's secret by default. The agents of a run get the secret in a file, so
// a run removes the variable from their environment.
const TokenVariable = "STACKAGENT_BUS_TOKEN"

// privateFolder is a temporary folder that only this user may enter, for what a
// run shares with the agents of its JVMs.
type privateFolder string

// token is the file with the bus's secret.
func (p privateFolder) token() string { return filepath.Join(string(p), "token") }

// spool is where the agents keep what the bus does not take.
func (p privateFolder) spool() string { return filepath.Join(string(p), "spool") }

func newPrivateFolder(token string) (privateFolder, error) {
	dir, err := os.MkdirTemp("", "stackagent-") // mode 0700
	if err != nil {
		return "", fmt.Errorf("making a place for the bus's token: %w", err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("making a place for the bus's token: %w", err)
	}
	p := privateFolder(dir)
	if err := os.WriteFile(p.token(), []byte(token), 0o600); err != nil {
		os.RemoveAll(dir)
		return "", fmt.Errorf("writing the bus's token: %w", err)
	}
	return p, nil
}

// remove deletes the folder, unless a JVM has left, or still writes, a spool file
// in it, or a damaged one is kept there.
func (p privateFolder) remove() {
	switch {
	case p == "":
	case len(spool.Files(p.spool()))+len(spool.Kept(p.spool())) == 0:
		os.RemoveAll(string(p))
	default:
		os.Remove(p.token())
	}
}

// Token is the file with the bus's secret, for agents of this user.
func (c *Collector) Token() string { return c.private.token() }

// Spool is where agents keep what the bus does not take.
func (c *Collector) Spool() string { return c.private.spool() }
