package sessions

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/view"
)

// mostListed is how many sessions a question lists.
const mostListed = 10

// confirm asks on a terminal whether to delete sessions. Elsewhere they are deleted with --yes only.
func confirm(env console.Env, found []catalog.Found, yes bool) error {
	if yes {
		return nil
	}
	if f, ok := env.In.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return console.Usagef("nobody can be asked here: give --yes to delete %s", text.PluralExact(len(found), "session", "sessions"))
	}
	bytes := int64(0)
	for i, f := range found {
		bytes += f.Bytes
		if i < mostListed {
			fmt.Fprintf(env.Err, "  %s  %s  %s\n", text.Cell(f.Dir), f.Started.Local().Format(view.SessionTime), text.Cell(cmp.Or(f.Name, f.Program)))
		}
	}
	if more := len(found) - mostListed; more > 0 {
		fmt.Fprintf(env.Err, "  and %d more\n", more)
	}
	fmt.Fprintf(env.Err, "Delete %s (%s)? [y/N] ", text.PluralExact(len(found), "session", "sessions"), units.FormatBytes(bytes))
	answer, _ := bufio.NewReader(env.In).ReadString('\n') // without an answer, no
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		env.Note("nothing is deleted")
		return &console.ExitError{Code: console.ExitFailure}
	}
	return nil
}
