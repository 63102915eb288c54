package part

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stackagent/scripts/bench/tool"
)

// parkRecording are the settings of a JFR recording that holds nothing but the waits of parked threads.
const parkRecording = `<?xml version="1.0" encoding="UTF-8"?><configuration version="2.0"><event name="jdk.ThreadPark">` +
	`<setting name="enabled">true</setting><setting name="stackTrace">true</setting><setting name="threshold">%s</setting></event></configuration>`

// waitTools are the plain JVM, the agent without waits and with them, and JFR, the last without stacks for short waits.
func waitTools(c Config, dir string) ([]tool.Tool, error) {
	tools := []tool.Tool{tool.Plain(), tool.Plain(), tool.Stackagent("stackagent, wait=off", c.Bin, "--switches", "off", "--wait", "off"),
		tool.Stackagent("stackagent, wait=50us", c.Bin, "--switches", "off")}
	tools[1].Name = "plain JVM, once more"
	for _, threshold := range []string{"50 us", "0 ns"} {
		settings := filepath.Join(dir, strings.ReplaceAll(threshold, " ", "")+".jfc")
		if err := os.WriteFile(settings, fmt.Appendf(nil, parkRecording, threshold), 0o600); err != nil {
			return nil, fmt.Errorf("the settings of JFR: %w", err)
		}
		tools = append(tools, tool.FlightSettings("JFR ThreadPark from "+threshold, settings))
	}
	return tools, nil
}

// Waits measures the cost of recording waits: for two threads that only wait for each other, for threads that want one lock, and for waits of
// more than 1 ms, which have a stack.
func Waits(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	rounds, text := c.rounds(5), ""
	err = c.inScratch(func(dir string) error {
		tools, err := waitTools(c, dir)
		if err != nil {
			return err
		}
		text = fmt.Sprintf("JDK %s, medians of %d runs each; the tools alternate.\n", c.newest().Full, rounds)
		for _, w := range []struct {
			name, what, main string
			turns            int
			more             []string
		}{
			{"ping", pingWhat, "Ping", pingTurns, nil},
			{"locks", "four threads want the same lock again and again, each for a moment. A turn is a time with the lock.", "Locks", 20 * pingTurns, nil},
			{"longlock", "eight threads wait for one lock, for more than 1 ms each time, on stacks of 30 frames; each holds it parked for 0.2 ms. A turn has both waits.", "LongWaits", pingTurns / 30, []string{"lock", "20"}},
			{"longpark", "eight threads park for more than 1 ms each time, on stacks of 30 frames. A turn is a wait.", "LongWaits", pingTurns / 15, []string{"park", "20"}},
		} {
			if !c.wants(w.name) {
				continue
			}
			part, err := c.pings(ctx, c.own(w.name, w.what, classes, append([]string{w.main, fmt.Sprint(pick(c, w.turns, w.turns/20))}, w.more...)...), tools, rounds)
			if err != nil {
				return err
			}
			text += part
		}
		return nil
	})
	return text, err
}
