package run

import (
	"os/exec"
	"slices"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/launch"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/session/logs/deopt"
)

// deoptLog is the file to which the command's JVM is to log its deoptimisations; "" if it is not to, or cannot, which is noted.
func (f *Flags) deoptLog(env console.Env, c *record.Collector, command string) string {
	if !f.deopts {
		return ""
	}
	if !launch.IsJava(command) {
		env.Note("deoptimisations are not available: put java itself after --, so that shadow can give it the option")
		return ""
	}
	probe := exec.Command(command, deopt.Probe, "-version") // a JVM does not start with a log that it does not know
	probe.Dir, probe.Env = f.workdir, launch.WithoutJavaOptions(env.Environ)
	if err := probe.Run(); err != nil {
		env.Note("deoptimisations are not available: %s does not log them; JDK 20 and newer do", table.Clean(command))
		return ""
	}
	return c.DeoptLog()
}

// withDeopts puts the option for the log before a JVM's own, which may change it.
func withDeopts(args []string, log string) []string {
	if log == "" {
		return args
	}
	return slices.Insert(slices.Clone(args), 1, deopt.Options(log))
}

// readDeopts reads the log of a JVM that has ended; nil if there is none.
func readDeopts(env console.Env, log string) *deopt.File {
	if log == "" {
		return nil
	}
	f, err := deopt.ReadLog(log)
	if err != nil {
		env.Note("deoptimisations are not available: %s", text.OneLine(err.Error()))
		return nil
	}
	return f
}
