package kernel

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"

	"stackagent/internal/proc"
)

// cgroups are the folders with the CPU limits of a process: of its cgroup and of those around it.
const maxCgroups = 16

// openThrottling opens cpu.stat of each cgroup that can throttle the process.
func openThrottling(pid int) (files []*file, err error) {
	groups, err1 := proc.Process(pid).Read("cgroup")
	mounts, err2 := proc.Self.Read("mountinfo")
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	for _, dir := range cpuFolders(groups, mounts) {
		f, err := openFile(dir + "/cpu.stat")
		if err != nil {
			continue
		}
		text, err := f.read()
		if _, ok := parseThrottling(text); err != nil || !ok || len(files) == maxCgroups {
			f.close() // nothing is written
			continue
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, errors.New("the process is in no cgroup with the controller cpu, or its files are hidden from shadow")
	}
	return files, nil
}

// sumThrottling sums what the files say.
func sumThrottling(files []*file) (sum throttling, err error) {
	for _, f := range files {
		text, err := f.read()
		if err != nil {
			return sum, err
		}
		t, _ := parseThrottling(text)
		sum = sum.plus(t)
	}
	return sum, nil
}

func (t throttling) plus(o throttling) throttling {
	return throttling{t.periods + o.periods, t.throttled + o.throttled, t.ns + o.ns}
}

func (t throttling) minus(o throttling) throttling {
	return throttling{t.periods - o.periods, t.throttled - o.throttled, t.ns - o.ns}
}

// cpuFolders are the folders of the process's cgroup with the CPU controller and of those around it, from the inside outwards.
// groups is /proc/PID/cgroup, mounts /proc/self/mountinfo.
func cpuFolders(groups, mounts []byte) (dirs []string) {
	for line := range bytes.Lines(groups) { // hierarchy:controllers:path
		parts := strings.SplitN(strings.TrimSuffix(string(line), "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		second := parts[0] == "0" && parts[1] == ""
		if !second && !slices.Contains(strings.Split(parts[1], ","), "cpu") {
			continue
		}
		root, mount, ok := cgroupMount(mounts, second)
		inside, below := strings.CutPrefix(path.Clean(parts[2]), strings.TrimSuffix(root, "/"))
		if !ok || !below || inside != "" && inside[0] != '/' {
			continue
		}
		for at := path.Clean("/" + inside); len(dirs) < maxCgroups; at = path.Dir(at) {
			dirs = append(dirs, path.Join(mount, at))
			if at == "/" {
				break
			}
		}
	}
	return dirs
}

// cgroupMount is where the second version is mounted, or the controller cpu of the first, and which cgroup is there.
func cgroupMount(mounts []byte, second bool) (root, mount string, ok bool) {
	for line := range bytes.Lines(mounts) { // id parent device root mount options [optional] - type source options
		before, after, cut := strings.Cut(strings.TrimSuffix(string(line), "\n"), " - ")
		left, right := strings.Fields(before), strings.Fields(after)
		if !cut || len(left) < 5 || len(right) < 3 {
			continue
		}
		if second && right[0] == "cgroup2" || !second && right[0] == "cgroup" && slices.Contains(strings.Split(right[2], ","), "cpu") {
			return left[3], left[4], true
		}
	}
	return "", "", false
}
