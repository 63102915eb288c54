package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
)

// manPrefix begins the names of the manual pages: shadow(5) and shadow(3) are the system's.
const manPrefix = "stackagent-"

// newMan writes the manual pages. Packagers and make man call it; users read the pages.
func newMan(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages",
		Long:    "Writes a manual page for each command: " + manPrefix + "shadow.1, " + manPrefix + "shadow-run.1, ...",
		Example: "  shadow man /usr/local/share/man/man1",
		Hidden:  true,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("making the folder of the manual pages: %w", err)
			}
			return writeMan(cmd.Root(), args[0])
		},
	}
}

// writeMan writes the pages of cmd and of the verbs below it.
func writeMan(cmd *cobra.Command, dir string) error {
	if err := os.WriteFile(filepath.Join(dir, manName(cmd)+".1"), []byte(manPage(cmd)), 0o644); err != nil {
		return fmt.Errorf("writing a manual page: %w", err)
	}
	for _, sub := range documented(cmd) {
		if err := writeMan(sub, dir); err != nil {
			return err
		}
	}
	return nil
}

// documented are the verbs of cmd that have a page.
func documented(cmd *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(cmd.Commands()), func(sub *cobra.Command) bool { return !sub.IsAvailableCommand() })
}

// manName is the name of a command's page, without its section.
func manName(cmd *cobra.Command) string {
	return manPrefix + strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// manPage is the page of a command, in the language of man(7).
func manPage(cmd *cobra.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH \"%s\" 1 \"\" \"stackagent\" \"stackagent\"\n", roff(strings.ToUpper(manName(cmd))))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", roff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	b.WriteString(paragraphs(cmp.Or(cmd.Long, cmd.Short)))
	if subs := documented(cmd); len(subs) > 0 {
		b.WriteString(".SH COMMANDS\n")
		for _, sub := range subs {
			fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(sub.Name()), roff(sub.Short))
		}
	}
	manFlags(&b, "OPTIONS", cmd.NonInheritedFlags())
	manFlags(&b, "OPTIONS OF ALL COMMANDS", cmd.InheritedFlags())
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", roff(cmd.Example))
	}
	b.WriteString(".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\na failure, explained on standard error\n.TP\n.B 2\nwrong usage\n")
	if cmd.Name() == "run" {
		b.WriteString(".P\nIf COMMAND was run, the exit status is that of COMMAND.\n")
	}
	manAlso(&b, cmd)
	return b.String()
}

func manFlags(b *strings.Builder, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, usage := pflag.UnquoteUsage(f)
		if f.NoOptDefVal != "" {
			value = ""
		}
		if d := f.DefValue; d != "" && d != "0" && d != "0s" && d != "false" && d != "[]" && !strings.Contains(usage, "(default") {
			usage += " (default: " + d + ")"
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR %s\n%s\n", roff(name), roff(value), roff(usage))
	})
}

func manAlso(b *strings.Builder, cmd *cobra.Command) {
	var names []string
	for _, c := range append([]*cobra.Command{cmd.Parent()}, documented(cmd)...) {
		if c == nil {
			continue
		}
		names = append(names, fmt.Sprintf("\\fB%s\\fR(1)", roff(manName(c))))
	}
	if len(names) > 0 {
		fmt.Fprintf(b, ".SH SEE ALSO\n%s\n", strings.Join(names, ",\n"))
	}
}

// paragraphs sets a help text: paragraphs are filled, and those with indented or tabular lines stay as they are.
func paragraphs(long string) string {
	var b strings.Builder
	for i, p := range strings.Split(strings.TrimSpace(long), "\n\n") {
		if i > 0 {
			b.WriteString(".P\n")
		}
		if strings.Contains(p, "   ") || strings.Contains("\n"+p, "\n  ") {
			fmt.Fprintf(&b, ".nf\n%s\n.fi\n", roff(p))
		} else {
			b.WriteString(roff(p) + "\n")
		}
	}
	return b.String()
}

// roff escapes what roff would take for itself: backslashes, hyphens that are to be copied, and dots and quotes that
// begin a line.
func roff(s string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
