package run

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"stackagent/agent/options"
	"stackagent/cmd/shadow/internal/console"
)

// agentFlags are the flags of a verb that set options of the agent.
type agentFlags []*AgentFlag

// addAgentFlags gives flags those that verb has for the agent's options.
func addAgentFlags(flags *pflag.FlagSet, verb options.Verbs) agentFlags {
	var list agentFlags
	for _, o := range options.Of(verb) {
		f := &AgentFlag{option: o}
		list = append(list, f)
		added := flags.VarPF(f, o.Flag, "", o.Help)
		added.DefValue = o.Default
		if o.Switch() {
			added.NoOptDefVal = "true"
		}
	}
	return list
}

// settings are the options that were given, so that the defaults stay the agent's.
func (l agentFlags) settings() []options.Setting {
	var list []options.Setting
	for _, f := range l {
		for _, v := range f.given {
			list = append(list, options.Setting{Key: f.option.Key, Value: v})
		}
	}
	return list
}

// Check refuses values that the agent would refuse.
func (l agentFlags) Check() error {
	for _, f := range l {
		for _, v := range f.given {
			var wrong *options.Error
			if err := f.option.Check(v); errors.As(err, &wrong) {
				if f.option.Secret {
					v = "..."
				}
				return console.Usagef("--%s %s: %s", f.option.Flag, v, wrong.Problem)
			}
		}
	}
	return nil
}

// value is what was given for the option key, "" if nothing was.
func (l agentFlags) value(key string) string {
	for _, f := range l {
		if f.option.Key == key && len(f.given) > 0 {
			return f.given[0]
		}
	}
	return ""
}

// AgentFlag is the flag of one option; it implements pflag.Value.
type AgentFlag struct {
	option options.Option
	given  []string
}

func (f *AgentFlag) String() string { return strings.Join(f.given, " ") }

// Type is what the help shows as the value.
func (f *AgentFlag) Type() string {
	if f.option.Switch() {
		return "bool"
	}
	return f.option.Value
}

// Set keeps a value; "" is the default.
func (f *AgentFlag) Set(value string) error {
	switch {
	case value == "" && !f.option.Repeat:
		f.given = nil
		return nil
	case value == "":
		return nil
	case f.option.Switch():
		on, err := strconv.ParseBool(value)
		if err != nil {
			return errors.New("want true or false")
		}
		value = strconv.FormatBool(on)
	}
	if !f.option.Repeat {
		f.given = nil
	}
	f.given = append(f.given, value)
	return nil
}
