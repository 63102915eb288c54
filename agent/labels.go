package agent

import (
	"errors"
	"os"
	"strings"

	"stackagent/agent/options"
	"stackagent/internal/label"
	"stackagent/jvmti"
)

// labelsOf are those of the options, then those of the environment. A wrong one in the environment stops a JVM only if the
// options are strict: else the JVM is profiled without it.
func labelsOf(o *options.Options, getenv func(string) string) (label.Labels, error) {
	found, problems, left := label.FromEnvironment(getenv)
	if text := strings.Join(problems, "; "); text != "" && o.Strict {
		return label.Labels{}, errors.New(text)
	} else if text != "" {
		jvmti.Say(text + "; the session lacks these labels")
	}
	if len(left) > 0 {
		jvmti.Say("attributes of " + label.VarAttributes + " that do not fit a label are left out: " + strings.Join(left, " "))
	}
	l := o.Labels.Or(found)
	if l.Instance == "" {
		l.Instance = label.InstanceOf(hostName(), os.Getpid())
	}
	return l, nil
}
