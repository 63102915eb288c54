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

// Waits measures the cost of recording waits: for two threads that only wait for each other, and for threads that want one lock.
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
		}{{"ping", pingWhat, "Ping", pingTurns}, {"locks", "four threads want the same lock again and again, each for a moment. A turn is a time with the lock.", "Locks", 20 * pingTurns}} {
			if !c.wants(w.name) {
				continue
			}
			part, err := c.pings(ctx, c.own(w.name, w.what, classes, w.main, fmt.Sprint(pick(c, w.turns, w.turns/20))), tools, rounds)
			if err != nil {
				return err
			}
			text += part
		}
		return nil
	})
	return text, err
}
