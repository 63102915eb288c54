package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/record"
	"stackagent/hpc"
	"stackagent/internal/busauth"
	"stackagent/internal/proc"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/marker"
)

// fakeMarkers is the variable that names the file in which the fake JVM leaves a marker.
const fakeMarkers = "FAKE_MARKERS"

// fakeJVM does what a JVM with the agent does: it finds its options, connects
// to the bus with the token, and sends a session. It then behaves by mode:
// "exit N", "hang" until a TERM (then exit 3), "killed" before its last batch.
func fakeJVM(mode string, args []string) error {
	options, err := agentOptionsOf(args)
	if err != nil {
		return err
	}
	token, err := os.ReadFile(options["tokenfile"])
	if err != nil {
		return err
	}
	info, err := os.Stat(options["tokenfile"])
	if err != nil || info.Mode().Perm() != 0o600 {
		return fmt.Errorf("token file has mode %v: %w", info.Mode(), err)
	}
	for _, secret := range append(args, os.Environ()...) {
		if strings.Contains(secret, string(token)) {
			return fmt.Errorf("the token is in %q", secret)
		}
	}
	term := make(chan os.Signal, 1)
	if mode == "hang" { // before anything shows that this process is up
		notify(term, unix.SIGTERM)
	}
	host, _ := os.Hostname()
	if err := send(options["bus"], string(token), host, mode != "killed"); err != nil {
		return err
	}
	if mode == "killed" {
		return unix.Kill(os.Getpid(), unix.SIGKILL)
	}
	fmt.Println("args", strings.Join(args, " "))
	if path := os.Getenv(fakeMarkers); path != "" {
		f := marker.File{Version: marker.FileVersion, End: "a test ended", Markers: []marker.Marker{{At: proc.Now(), Line: "orders"}}}
		if err := hpc.WriteJSON(path, &f); err != nil {
			return err
		}
	}
	if mode == "hang" {
		fmt.Println("ready")
		<-term
		os.Exit(3)
	}
	code, err := strconv.Atoi(strings.TrimPrefix(mode, "exit "))
	if err != nil {
		return err
	}
	os.Exit(code)
	return nil
}

func agentOptionsOf(args []string) (map[string]string, error) {
	words := append(strings.Fields(os.Getenv("JAVA_TOOL_OPTIONS")), args...)
	for _, word := range words {
		if rest, ok := strings.CutPrefix(word, "-agentpath:"); ok {
			_, list, _ := strings.Cut(rest, "=")
			options := map[string]string{}
			for _, pair := range strings.Split(list, ",") {
				key, value, _ := strings.Cut(pair, "=")
				options[key] = value
			}
			return options, nil
		}
	}
	return nil, fmt.Errorf("no agent in %q", words)
}

// optionsOf are the options of a client with the token of a token file.
func optionsOf(secret string) []nats.Option {
	var a busauth.Auth
	a.SetSecret(secret)
	list, err := a.Options()
	if err != nil {
		return []nats.Option{nats.Token(secret)} // which is refused
	}
	return list
}

// send publishes one session of two batches: three executions of one class.
func send(url, token, host string, whole bool) error {
	conn, err := nats.Connect(url, optionsOf(token)...)
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	var clock unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock); err != nil {
		return err
	}
	now := units.Ticks(clock.Nano())
	pair := func(at units.Ticks) wire.ClockPair { return wire.ClockPair{Ticks: at, Mono: units.MonoNs(at)} }
	hello := &wire.Hello{PID: os.Getpid(), Host: host, JVMVersion: "21", MainClass: "com.acme.Fake", GC: "Serial", CPUs: 2,
		ClockName: "monotonic", StartClock: pair(now - 1e9), Metrics: []string{"wall", "cpu"}}
	name := fmt.Sprintf("fake-%d", os.Getpid())
	first := &wire.Batch{Version: wire.Version, Session: name, Seq: 1, Clock: pair(now - 5e8), Hello: hello,
		Classes: []wire.Class{{ID: 1, Name: "com.acme.Fake$Task", Kinds: units.KindRunnable}},
		Threads: []wire.Thread{{ID: 1, JavaID: 1, OSID: int32(os.Getpid()), Name: "main", CPU: units.NotMeasured}}}
	for i := range uint64(3) {
		at := now - 9e8 + units.Ticks(i)*1e6
		first.Creations = append(first.Creations, wire.Creation{TaskID: i + 1, Class: 1, Thread: 1, At: at})
		first.Executions = append(first.Executions, wire.Execution{TaskID: i + 1, Class: 1, Thread: 1, Start: at + 1000, End: at + 501000, CPU: 400000})
	}
	first.Totals = wire.Totals{Executions: 3, Creations: 3}
	last := &wire.Batch{Version: wire.Version, Session: name, Seq: 2, Clock: pair(now), Hello: hello, Totals: first.Totals, Last: whole}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, b := range []*wire.Batch{first, last} {
		data, err := wire.Encode(b, nil)
		if err != nil {
			return err
		}
		if _, err := js.Publish(ctx, wire.Subject(name), data, jetstream.WithMsgID(fmt.Sprintf("%s-%d", name, b.Seq))); err != nil {
			return err
		}
	}
	return nil
}

// fakeJava makes a command that is this test program as a JVM.
func fakeJava(t *testing.T, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	script := "#!/bin/sh\nexec '" + self + "' \"$@\"\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// check opens the session of a run and looks for what the fake JVM sent.
func checkSession(t *testing.T, dir string) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s.Dir != dir {
		t.Errorf("the session is in %s, not in %s itself", s.Dir, dir)
	}
	_, all, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	if all.Created != 3 || all.Executions != 3 || s.Manifest.Ended != "exit" || s.Manifest.Lost.Events != 0 {
		t.Errorf("created %d, executed %d, ended %q, lost %+v", all.Created, all.Executions, s.Manifest.Ended, s.Manifest.Lost)
	}
	if _, err := os.Stat(filepath.Join(dir, record.BusFolder)); err == nil {
		t.Error("the bus's folder is left in the session")
	}
}

func TestRunJava(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	java := fakeJava(t, "java")
	code, out, errs := shadow(t, []string{fakeVariable + "=exit 5", record.TokenVariable + "=another"}, "run", "--agent", agentLibrary(t),
		"-o", dir, "--metric", "wall", "--", java, "-jar", "my app.jar")
	if code != 5 {
		t.Fatalf("exit code %d, want the command's 5: %s%s", code, out, errs)
	}
	if !strings.HasPrefix(out, "args -agentpath:") || !strings.Contains(out, ",metric=wall,children=true -jar my app.jar\n") || strings.Count(out, "\n") != 1 {
		t.Errorf("the command's output is not its own: %q", out)
	}
	for _, want := range []string{"com.acme.Fake, Java 21", "3 executions", "Nothing was lost", "session in " + dir, "next: shadow hotspots"} {
		if !strings.Contains(errs, want) {
			t.Errorf("summary lacks %q:\n%s", want, errs)
		}
	}
	checkSession(t, dir)
}

func TestRunScript(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	program := fakeJava(t, "pmd")
	code, out, errs := shadow(t, []string{fakeVariable + "=exit 0"}, "run", "--agent", agentLibrary(t), "--quiet", "-o", dir, "--", program, "check")
	if code != 0 || out != "args check\n" || errs != "" {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
	}
	checkSession(t, dir)
}

// Two JVMs: two sessions side by side.
func TestRunSeveral(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	program := fakeJava(t, "jvm")
	code, _, errs := shadow(t, []string{fakeVariable + "=exit 0"}, "run", "--agent", agentLibrary(t), "-o", dir, "--", "sh", "-c", program+" a; "+program+" b")
	if code != 0 || !strings.Contains(errs, "2 sessions, one per JVM, under "+dir) {
		t.Errorf("exit code %d, stderr %s", code, errs)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Fatalf("%d entries, want 2 sessions: %v %v", len(entries), entries, err)
	}
	for _, e := range entries {
		checkSession(t, filepath.Join(dir, e.Name()))
	}
}

func TestRunSignal(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	java := fakeJava(t, "java")
	go func() {
		// The shadow is this process: a supervisor's TERM comes to it.
		for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if found, _ := filepath.Glob(filepath.Join(dir, "fake-*", "manifest.json")); len(found) > 0 {
				break
			}
		}
		unix.Kill(os.Getpid(), unix.SIGTERM)
	}()
	code, _, errs := shadow(t, []string{fakeVariable + "=hang"}, "run", "--agent", agentLibrary(t), "-o", dir, "--", java)
	if code != 3 {
		t.Errorf("exit code %d, want 3 of the command's own handler: %s", code, errs)
	}
	checkSession(t, dir)
}

// A JVM that is killed sends no last batch: the summary must not claim that
// nothing is missing.
func TestRunKilledJVM(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	code, _, errs := shadow(t, []string{fakeVariable + "=killed"}, "run", "--agent", agentLibrary(t), "-o", dir, "--", fakeJava(t, "java"))
	if code != 137 || !strings.Contains(errs, "The session did not exit cleanly (lost contact)") || strings.Contains(errs, "Nothing was lost") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, out, errs := shadow(t, nil, "stats", dir)
	if code != 0 || !strings.Contains(out, summary.MissingEnd) {
		t.Errorf("stats: %d, %s%s", code, out, errs)
	}
}

func TestRunWithoutJVM(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	lib := agentLibrary(t)
	code, out, errs := shadow(t, nil, "run", "--agent", lib, "-o", dir, "--", "sh", "-c", "echo hi; exit 4")
	if code != 4 || out != "hi\n" || !strings.Contains(errs, "no JVM connected: the command started no JVM") {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, out, errs)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("an empty session folder is left behind")
	}
	code, _, _ = shadow(t, nil, "run", "--agent", lib, "-o", dir, "--", "sh", "-c", "kill -KILL $$")
	if code != 137 {
		t.Errorf("exit code %d of a killed command, want 137", code)
	}
}

func TestRunCountsFromOutside(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	code, _, errs := shadow(t, []string{fakeVariable + "=exit 0"}, "run", "-q", "--agent", agentLibrary(t), "-o", dir, "--", fakeJava(t, "java"))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	code, out, errs := shadow(t, nil, "threads", dir, "--format", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var rows []threadJSON
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Thread != "main#1" {
			continue
		}
		if _, ok := r.Counters["page_faults"]; !ok {
			t.Skipf("no counters of the process here: %s", errs)
		}
		if r.Counters["task_clock_ns"].Value <= 0 {
			t.Errorf("main thread used no CPU time: %+v", r.Counters)
		}
		return
	}
	t.Errorf("no thread main#1 in %s", out)
}
