package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/run"
	"stackagent/hpc"
)

// fakeHome makes a Java installation whose launcher is a script.
func fakeHome(t *testing.T, version, script string) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "jdk-"+version)
	if err := os.MkdirAll(filepath.Join(home, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"bin/java": "#!/bin/sh\n" + script + "\n", "release": "JAVA_VERSION=\"" + version + "\"\n"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func diagnosis(t *testing.T, environ []string, args ...string) map[string]hpc.Facility {
	t.Helper()
	code, out, errs := shadow(t, environ, append([]string{"doctor", "--format", "json"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var all []hpc.Facility
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]hpc.Facility{}
	for _, f := range all {
		if f.Detail == "" || f.Available != hpc.Yes && f.Available != hpc.No && f.Available != hpc.Unknown {
			t.Errorf("incomplete: %+v", f)
		}
		if _, seen := found[f.Name]; !seen { // the first is JAVA_HOME's
			found[f.Name] = f
		}
	}
	return found
}

func TestDoctor(t *testing.T) {
	t.Setenv("PATH", "/usr/bin:/bin")
	lib := agentLibrary(t)
	good := fakeHome(t, "99.0.1", `case "$*" in *PrintFlagsFinal*) echo "bool UsePerfData = true {product}";; esac`)
	got := diagnosis(t, []string{"JAVA_HOME=" + good}, "--agent", lib)
	for name, want := range map[string]hpc.Answer{"Java 99": hpc.Yes, "agent library": hpc.Yes, "agent loads in Java 99": hpc.Yes, "JVM counters (hsperfdata)": hpc.Yes} {
		if got[name].Available != want {
			t.Errorf("%s: %+v, want %s", name, got[name], want)
		}
	}
	if _, ok := got["hardware counters"]; !ok {
		t.Error("nothing said about the machine")
	}
	bad := fakeHome(t, "98", `echo "Could not find agent library" ; exit 1`)
	got = diagnosis(t, []string{"JAVA_HOME=" + bad}, "--agent", lib)
	if f := got["agent loads in Java 98"]; f.Available != hpc.No || !strings.Contains(f.Detail, "Could not find agent library") {
		t.Errorf("a library that does not load: %+v", f)
	}
	if f := got["JVM counters (hsperfdata)"]; f.Available != hpc.Unknown {
		t.Errorf("a Java that does not answer: %+v", f)
	}
	old := fakeHome(t, "1.8.0_412", "exit 0")
	got = diagnosis(t, []string{"JAVA_HOME=" + old, run.AgentVariable + "=/nowhere/x.so"})
	if f := got["Java"]; f.Available != hpc.No || !strings.Contains(f.Remedy, "17") {
		t.Errorf("an old Java: %+v", f)
	}
	if f := got["agent library"]; f.Available != hpc.No || !strings.Contains(f.Detail, "no such file") {
		t.Errorf("no library: %+v", f)
	}
}

func TestDoctorForms(t *testing.T) {
	java := "JAVA_HOME=" + fakeHome(t, "17.0.1", "exit 0")
	code, out, _ := shadow(t, []string{java}, "doctor")
	if code != 0 || !strings.HasPrefix(out, "check ") || !strings.Contains(out, "steady CPU counter") {
		t.Errorf("table: %d %s", code, out)
	}
	code, out, _ = shadow(t, []string{java}, "doctor", "--format", "csv")
	if code != 0 || !strings.HasPrefix(out, "check,result,detail,remedy\n") {
		t.Errorf("csv: %d %s", code, out)
	}
}
