package part

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/result"
)

// sized is a workload whose bytes are counted.
type sized struct {
	load, detail string
	size         int // of an iteration, see java/Tasks.java; 0: the usual size
}

// sizes counts the bytes per task on the wire, by a proxy between agent and bus, and on
// disk.
func sizes(ctx context.Context, c Config) (string, error) {
	classes, err := c.Compile(ctx)
	if err != nil {
		return "", err
	}
	t := result.Table{Head: []string{"workload", "detail", "tasks", "executions", "bytes per task on the wire", "on disk"}}
	for _, s := range []sized{{"both", "all", 0}, {"pool", "all", 0}, {"fj", "all", 27}, {"both", "auto", 0}, {"pool", "auto", 0}, {"fj", "auto", 27}} {
		if c.Quick {
			s.size = pick(c, s.size, map[string]int{"both": 100_000, "pool": 50_000, "fj": 22}[s.load])
		}
		if err := c.inScratch(func(dir string) error {
			printed, wire, disk, err := c.size(ctx, s, classes, dir)
			if err != nil {
				return fmt.Errorf("%s, detail=%s: %w", s.load, s.detail, err)
			}
			tasks := float64(printed.tasks)
			t.Add(s.load, s.detail, result.Grouped(int64(printed.tasks)), result.Grouped(int64(printed.executions)),
				result.Number(float64(wire)/tasks), result.Number(float64(disk)/tasks))
			c.say("%s, detail=%s: %.2f bytes per task on the wire, %.2f on disk", s.load, s.detail, float64(wire)/tasks, float64(disk)/tasks)
			return nil
		}); err != nil {
			return "", err
		}
	}
	return "Bytes per task for all its records (its creation and its execution, if it had one). *On the wire*: counted by a proxy between agent and bus, " +
		"including the protocol. *On disk*: the Parquet files of the session:\n\n" + t.String(), nil
}

var serves = regexp.MustCompile(`nats://([^,/\s]+), page (\S+/),`)

// size runs what against a `shadow serve` behind a counting proxy.
func (c Config) size(ctx context.Context, what sized, classes, dir string) (t printed, wire, disk int64, err error) {
	s, err := c.serve(ctx, dir)
	if err != nil {
		return t, 0, 0, err
	}
	defer func() {
		_, stopped := s.Stop()
		err = errors.Join(err, stopped)
	}()
	proxy, err := measure.NewProxy(s.address)
	if err != nil {
		return t, 0, 0, err
	}
	defer proxy.Close()
	options := fmt.Sprintf("bus=nats://%s,tokenfile=%s,session=sized,detail=%s", proxy.Addr, s.token(), what.detail)
	r, err := measure.Run(ctx, measure.Command{Args: []string{c.newest().Tool("java"), "-agentpath:" + c.Bin.Agent + "=" + options, "-cp", classes,
		"Tasks", what.load, "0", "5", strconv.Itoa(what.size)}})
	if err != nil {
		return t, 0, 0, err
	}
	if t, err = parseTasks(r.Stdout); err != nil {
		return t, 0, 0, err
	}
	session := filepath.Join(s.store, "sized")
	if err := complete(ctx, session); err != nil {
		return t, 0, 0, err
	}
	return t, proxy.Sent.Load(), folderSize(session), nil
}

// serve starts `shadow serve` on a store in dir. What JVMs of others have left in spool files is not delivered there.
func (c Config) serve(ctx context.Context, dir string) (s served, err error) {
	s.store = filepath.Join(dir, "store")
	s.Background, err = measure.StartBackground(ctx, measure.Command{Args: []string{c.Bin.Shadow, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", s.store},
		Env: []string{"TMPDIR=" + dir}},
		func(line string) bool {
			m := serves.FindStringSubmatch(line)
			if m != nil {
				s.address, s.page = m[1], m[2]
			}
			return m != nil
		})
	return s, err
}

// complete waits until the session is whole.
func complete(ctx context.Context, dir string) error {
	var m struct {
		Ended string `json:"ended"`
		Lost  struct {
			Events uint64 `json:"events"`
		} `json:"lost"`
	}
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			continue // not written yet
		}
		if err := json.Unmarshal(b, &m); err != nil {
			return fmt.Errorf("reading the manifest of %s: %w", dir, err)
		}
		switch {
		case m.Ended != "exit":
		case m.Lost.Events > 0:
			return fmt.Errorf("%s: %d events were lost: their bytes are not on the wire", dir, m.Lost.Events)
		default:
			return nil
		}
	}
	return fmt.Errorf("%s is not complete after two minutes (ended: %q)", dir, m.Ended)
}
