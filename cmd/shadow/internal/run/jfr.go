package run

import (
	"context"
	"os"
	"os/exec"
	"slices"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/record"
	"stackagent/internal/launch"
	"stackagent/internal/text"
	"stackagent/shadow/session/logs/jfr"
)

// jfrFlags ask for events of the JVM's flight recorder.
type jfrFlags []string

func (f jfrFlags) check() error {
	if err := jfr.CheckTypes(f); err != nil {
		return console.Usagef("--jfr: %w", err)
	}
	return nil
}

// with puts the options for a recording before the JVM's own. recording is the file; "": there is none, which is noted.
func (f jfrFlags) with(env console.Env, c *record.Collector, args []string) (with []string, recording string) {
	if len(f) == 0 {
		return args, ""
	}
	if !launch.IsJava(args[0]) {
		env.Note("events of JFR are not available: put java itself after --, so that shadow can give it the options")
		return args, ""
	}
	recording, settings := c.Private("events.jfr"), c.Private("events.jfc")
	if err := os.WriteFile(settings, []byte(jfr.Settings(f)), 0o600); err != nil {
		env.Note("events of JFR are not available: %s", text.OneLine(err.Error()))
		return args, ""
	}
	return slices.Insert(slices.Clone(args), 1, jfr.Options(recording, settings)...), recording
}

// read reads the recording of a JVM that has ended; nil if there is none.
func (f jfrFlags) read(ctx context.Context, env console.Env, java, recording string) *jfr.File {
	if recording == "" {
		return nil
	}
	path, err := exec.LookPath(java)
	if err == nil {
		var file *jfr.File
		if file, err = jfr.ReadRecording(ctx, path, recording, f); err == nil {
			return file
		}
	}
	env.Note("events of JFR are not available: %s", text.OneLine(err.Error()))
	return nil
}
