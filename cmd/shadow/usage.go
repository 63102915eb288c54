package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/text"
)

// valueWords is what a flag of a type takes, in words. A type that is not in it says itself what is wrong.
var valueWords = map[string]string{
	"int":            "a whole number",
	"float64":        "a number",
	"bool":           "true or false",
	"duration":       "a time such as 1.5s, 200ms or 2m",
	"intSlice":       "whole numbers with commas between them, such as 1,2,4",
	choice.TraceType: "32 hexadecimal digits, the id of a trace",
}

// flagError says which flag is wrong, what was given and what it wants.
func flagError(cmd *cobra.Command, err error) error {
	var value *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		f := value.GetFlag()
		if value.GetValue() == "" { // of a variable that is not set
			return needsValue(f)
		}
		if want, ok := valueWords[f.Value.Type()]; ok {
			return console.Usagef("--%s %s: want %s", f.Name, value.GetValue(), want)
		}
		return console.Usagef("--%s %s: %w", f.Name, value.GetValue(), value.Unwrap())
	case errors.As(err, &missing):
		return needsValue(missing.GetFlag())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return console.Usagef("unknown flag: --%s%s", unknown.GetSpecifiedName(), text.DidYouMean(unknown.GetSpecifiedName(), names))
	}
	return &console.UsageError{Err: err}
}

func needsValue(f *pflag.Flag) error {
	return console.Usagef("--%s needs a value: %s", f.Name, cmp.Or(valueWords[f.Value.Type()], f.Usage))
}

// explainArguments makes cobra's complaints about arguments say what the verbs want. Complaints of the verbs
// themselves stay as they are.
func explainArguments(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		explainArguments(sub)
	}
	check := cmd.Args
	if check == nil {
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		var usage *console.UsageError
		switch {
		case err == nil || errors.As(err, &usage):
			return err
		case cmd.HasSubCommands():
			return listflags.KnownVerb(cmd, args)
		case len(args) > 0 && !strings.Contains(cmd.Use, " "):
			return console.Usagef("%s takes no arguments, got %q", cmd.CommandPath(), args[0])
		}
		return console.Usagef("want %s", cmd.UseLine())
	}
}

// addHelpers adds the verbs help and completion, which end with exit code 2 if what they are asked for does not exist.
func addHelpers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && !of.HasSubCommands() {
					return nil
				}
				return listflags.KnownVerb(of, rest)
			}
		case "completion":
			cmd.Args = listflags.KnownVerb
			cmd.RunE = func(*cobra.Command, []string) error {
				return console.Usagef("missing shell: shadow completion bash, zsh, fish or powershell")
			}
		}
	}
}

// newVersion is beside the flag --version: it is what people try first.
func newVersion(env console.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "The version of shadow",
		Long:    "Prints the version, the revision that it was built from, and the platform, as --version does.",
		Example: "  shadow version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := fmt.Fprintf(env.Out, "%s version %s\n", cmd.Root().Name(), cmd.Root().Version); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
			return nil
		},
	}
}
