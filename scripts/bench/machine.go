package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/scripts/bench/measure"
	"stackagent/scripts/bench/part"
)

// describe is a section's first paragraph: date, machine, versions.
func describe(ctx context.Context, c part.Config, started time.Time, load string) string {
	var jdks []string
	for _, j := range c.JDKs {
		jdks = append(jdks, j.Full)
	}
	quick := ""
	if c.Quick {
		quick = "**A trial of the harness: the figures mean nothing.**\n\n"
	}
	return fmt.Sprintf("%s*%s (%d minutes). %s, %d CPUs, %s, Linux %s. stackagent %s, JDK %s, Go %s. Load average before the start: %s.*\n\n",
		quick, started.UTC().Format("2006-01-02 15:04 UTC"), int(time.Since(started).Minutes()+0.5), cpuModel(), runtime.NumCPU(), memory(), kernel(),
		version(ctx, c), strings.Join(jdks, " and "), strings.TrimPrefix(runtime.Version(), "go"), load)
}

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for lines := bufio.NewScanner(bytes.NewReader(b)); lines.Scan(); {
		if key, value, _ := strings.Cut(lines.Text(), ":"); strings.TrimSpace(key) == "model name" {
			model := strings.TrimSpace(value)
			if strings.Contains(string(b), " hypervisor") {
				model += " (virtual machine)"
			}
			return model
		}
	}
	return "unknown processor"
}

func memory() string {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return "unknown memory"
	}
	return fmt.Sprintf("%.0f GiB", float64(info.Totalram)*float64(info.Unit)/(1<<30))
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return unix.ByteSliceToString(u.Release[:])
}

func version(ctx context.Context, c part.Config) string {
	r, err := measure.Run(ctx, measure.Command{Args: []string{c.Bin.Shadow, "--version"}})
	if err != nil {
		return "(version unknown)"
	}
	f := strings.Fields(r.Stdout)
	if len(f) < 2 {
		return "(version unknown)"
	}
	return f[1]
}

// load is the machine's load average of the last minute. Much more than 0 before the
// first part means that something else is running.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	one, _, _ := strings.Cut(string(b), " ")
	return one
}
