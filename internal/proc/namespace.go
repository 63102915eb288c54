package proc

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// BootID names the running kernel: all containers of a host see the same one, and no other host has it.
func BootID() (string, error) {
	b, err := Dir("/proc/sys/kernel/random").Read("boot_id")
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(b)), nil
}

// PIDNamespace is the number of the process's namespace of process ids. Of another user's process it needs CAP_SYS_PTRACE.
func (d Dir) PIDNamespace() (uint64, error) {
	link, err := os.Readlink(d.Path("ns/pid"))
	if err != nil {
		return 0, ended(err)
	}
	return ParseNamespace(link)
}

// ParseNamespace parses what a link to a namespace says: pid:[4026531836].
func ParseNamespace(link string) (uint64, error) {
	text, ok := strings.CutPrefix(link, "pid:[")
	text, closed := strings.CutSuffix(text, "]")
	n, err := strconv.ParseUint(text, 10, 64)
	if !ok || !closed || err != nil {
		return 0, fmt.Errorf("%.40q is no namespace of process ids", link)
	}
	return n, nil
}

// Processes lists the ids of the processes that can be seen, the newest of a machine whose ids have not wrapped first.
func Processes() ([]int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var ids []int
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b int) int { return b - a })
	return ids, nil
}
