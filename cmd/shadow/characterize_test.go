package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/hpc"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// threePrograms are sessions of makeSession in processes that ran for 2 s on 2 CPUs, with CPU times of 1, 2 and 3 s, of
// which the kernel has 10, 30 and 20 %. The first one has two runs in a folder, of 1.2 and 0.8 s.
func threePrograms(t *testing.T) (args []string) {
	t.Helper()
	root := t.TempDir()
	record := func(folder string, cpu, kernel float64) {
		dir := makeSession(t, filepath.Join(root, folder))
		u := hpc.Usage{Version: hpc.UsageFileVersion, Wall: 2e9, User: units.Ns(cpu * (1 - kernel) * 1e9), System: units.Ns(cpu * kernel * 1e9)}
		if err := errors.Join(u.Write(dir), store.SealBeside(dir, store.BesideFiles()...)); err != nil {
			t.Fatal(err)
		}
	}
	record("a/run-1", 1.2, 0.1)
	record("a/run-2", 0.8, 0.1)
	record("b", 2, 0.3)
	record("c", 3, 0.2)
	for _, name := range []string{"a", "b", "c"} {
		args = append(args, name+"="+filepath.Join(root, name))
	}
	return args
}

type characterization struct {
	Programs   []string
	Statistics []struct {
		Code     string
		Programs map[string]struct {
			Value, Low, High *float64
			Runs, Rank, Of   int
			Score            int
			NotAvailable     string `json:"not_available"`
		}
	}
	Components []struct {
		Explained        float64
		Loadings, Scores map[string]float64
	}
}

func TestCharacterizeJSON(t *testing.T) {
	code, out, errs := shadow(t, nil, append([]string{"characterize", "--format", "json"}, threePrograms(t)...)...)
	var got characterization
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, out, errs)
	}
	seen := 0
	for _, s := range got.Statistics {
		a, b, c := s.Programs["a"], s.Programs["b"], s.Programs["c"]
		switch s.Code {
		case "PCU": // 30 and 20 % of 4 s, 50, 75
			seen++
			// t(0.975, 1) = 12.706204736 times the standard error of 5.
			if math.Abs(*a.Value-25) > 1e-6 || a.Runs != 2 || math.Abs(*a.High-25-5*12.706204736) > 1e-4 || a.Rank != 3 || b.Score != 7 || c.Rank != 1 || c.Score != 10 {
				t.Errorf("PCU: %+v %+v %+v", a, b, c)
			}
		case "PKP":
			seen++
			if math.Abs(*b.Value-30) > 1e-6 || b.Low != nil || b.Rank != 1 || c.Rank != 2 || a.Rank != 3 || a.Of != 3 {
				t.Errorf("PKP: %+v %+v %+v", a, b, c)
			}
		case "TPA":
			seen++
			if a.Value != nil || !strings.Contains(a.NotAvailable, "--switches") {
				t.Errorf("TPA: %+v", a)
			}
		case "TUS": // equal in all: makeSession's units in 0.1 s
			seen++
			if a.Rank != 1 || b.Rank != 1 || c.Rank != 1 || *a.Value != *b.Value || !(*a.Value > 0) {
				t.Errorf("TUS: %+v %+v", a, b)
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d of 4 statistics", seen)
	}
	// Only the CPU use and the kernel's share differ.
	if len(got.Components) != 2 || len(got.Components[0].Loadings) != 2 || math.Abs(got.Components[0].Explained+got.Components[1].Explained-1) > 1e-9 {
		t.Errorf("components %+v", got.Components)
	}
}

func TestCharacterizeTables(t *testing.T) {
	args := threePrograms(t)
	code, out, errs := shadow(t, nil, append([]string{"characterize"}, args...)...)
	if code != 0 || !strings.Contains(out, "25 [3]") || !strings.Contains(out, "75 [10]") || strings.Contains(out, "TPA") || !strings.Contains(errs, "TPA") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	// More programs than fit as values: five more names for the same session.
	many := append([]string{}, args...)
	for _, name := range []string{"d", "e", "f", "g", "\x1b[2Jh"} {
		many = append(many, name+"="+strings.TrimPrefix(args[1], "b="))
	}
	code, out, errs = shadow(t, nil, append([]string{"characterize"}, many...)...)
	if code != 0 || !strings.Contains(out, "median") || strings.Contains(out, "[10]") || strings.Contains(out+errs, "\x1b") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, append([]string{"characterize", "--program", "c"}, args...)...)
	if code != 0 || !strings.Contains(out, "1/3") || !strings.Contains(out, "works in the kernel") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, append([]string{"characterize", "--statistic", "PKP"}, args...)...)
	rows := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(rows) != 4 || !strings.HasPrefix(rows[1], "b ") || !strings.HasPrefix(rows[2], "c ") || !strings.HasPrefix(rows[3], "a ") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, append([]string{"characterize", "--format", "csv"}, args...)...)
	if code != 0 || !strings.HasPrefix(out, "program,code,name,value,unit,low,high,runs,rank,of,score,not_available\n") || !strings.Contains(out, "\nc,PCU,CPU use,75,%,,,1,1,3,10,\n") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, append([]string{"characterize", "--components"}, args...)...)
	if code != 0 || !strings.Contains(out, "PC1") || !strings.Contains(out, "100 %") || !strings.Contains(errs, "2 of ") {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	code, out, _ = shadow(t, nil, append([]string{"characterize", "--components", "--format", "csv"}, args...)...)
	if n := strings.Count(out, "\n"); code != 0 || n != 1+2*(2+3) { // components, statistics and programs
		t.Errorf("exit code %d, %d rows\n%s", code, n, out)
	}
	file := filepath.Join(t.TempDir(), "pca.svg")
	code, _, errs = shadow(t, nil, append([]string{"characterize", "-o", file}, args...)...)
	if b, err := os.ReadFile(file); code != 0 || err != nil || !strings.Contains(string(b), ">c<") {
		t.Errorf("exit code %d, %v\n%s", code, err, errs)
	}
}

func TestCharacterizeRefuses(t *testing.T) {
	args := threePrograms(t)
	for want, given := range map[string][]string{
		"missing programs":                {},
		"give NAME=DIR":                   {"/tmp/s"},
		"not among":                       append([]string{"--program", "x"}, args...),
		"use one of them":                 append([]string{"--program", "a", "--components"}, args...),
		"there is no":                     {"a=" + filepath.Join(t.TempDir(), "none")},
		"--statistic XYZ: use one of ARA": append([]string{"--statistic", "XYZ"}, args...),
		"at least 3":                      {"--components", args[0], args[1]},
		"there is no manife":              {"a=" + t.TempDir()},
	} {
		code, out, errs := shadow(t, nil, append([]string{"characterize"}, given...)...)
		if code == 0 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%q: exit code %d\n%s%s", given, code, out, errs)
		}
	}
}
