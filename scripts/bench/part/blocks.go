package part

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

const (
	blockMs = 500
	// The JVM compiles woven code anew when recording is switched off the first times.
	skippedPairs = 3
)

// block is a stretch of time with recording on or off.
type block struct {
	on              bool
	wall, cpu, work int64 // ns; bytes allocated
}

// blocks runs a program with recording on and off in turns, at random, and compares the time for the same work.
func (c Config) blocks(ctx context.Context, p program, classes string) (way, error) {
	jar := filepath.Join(c.Scratch, "blocks.jar")
	manifest := filepath.Join(c.Scratch, "blocks.mf")
	if err := os.WriteFile(manifest, []byte("Premain-Class: Blocks\n"), 0o600); err != nil {
		return way{}, fmt.Errorf("the agent that switches recording: %w", err)
	}
	if _, err := measure.Run(ctx, measure.Command{Args: []string{p.JDK.Tool("jar"), "cfm", jar, manifest, "-C", classes, "Blocks.class"}}); err != nil {
		return way{}, err
	}
	var all [2][][2]float64 // CPU and wall time for the same work, by pairs
	return c.until(p.name+", blocks", 1, func(n int) (way, error) {
		err := c.inScratch(func(dir string) error {
			file := filepath.Join(dir, "blocks")
			q := p.Program
			q.Args = append([]string{"--add-opens", "java.base/java.lang=ALL-UNNAMED", fmt.Sprintf("-javaagent:%s=%s,%d,%d", jar, file, blockMs, n)}, q.Args...)
			if _, err := tool.Stackagent("", c.Bin).Run(ctx, q, dir); err != nil {
				return err
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("the blocks: %w", err)
			}
			found, err := parseBlocks(text)
			addPairs(&all, found)
			return err
		})
		return wayOfBlocks(all), err
	})
}

// parseBlocks reads what java/Blocks.java wrote. The last line may be cut: the program ended.
func parseBlocks(text []byte) (all []block, err error) {
	lines := bytes.Split(text, []byte("\n"))
	for _, line := range lines[:len(lines)-1] {
		var b block
		var name string
		var start int64
		if _, err := fmt.Sscan(string(line), &name, &start, &b.wall, &b.cpu, &b.work); err != nil || name != "on" && name != "off" {
			return nil, fmt.Errorf("reading the block %q: %w", line, err)
		}
		b.on = name == "on"
		all = append(all, b)
	}
	return all, nil
}

// addPairs adds the pairs of blocks of a run: CPU and wall time for the same work, on and off.
func addPairs(all *[2][][2]float64, found []block) {
	for i := 2 * skippedPairs; i+1 < len(found); i += 2 {
		on, off := found[i], found[i+1]
		if off.on {
			on, off = off, on
		}
		cpu := [2]float64{perWork(on.cpu, on.work), perWork(off.cpu, off.work)}
		wall := [2]float64{perWork(on.wall, on.work), perWork(off.wall, off.work)}
		if math.IsNaN(cpu[0] + cpu[1]) {
			continue // the program stood still
		}
		all[0], all[1] = append(all[0], cpu), append(all[1], wall)
	}
}

func wayOfBlocks(all [2][][2]float64) way {
	estimate := func(pairs [][2]float64) result.Estimate {
		var on, off []float64
		for _, p := range pairs {
			on, off = append(on, p[0]), append(off, p[1])
		}
		return result.Paired(on, off)
	}
	return way{cpu: estimate(all[0]), wall: estimate(all[1]), n: len(all[0])}
}
