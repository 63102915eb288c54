package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/internal/testnats"
)

// TestDeployedCommands: the flags in the files for systemd, containers and
// Kubernetes are flags of serve, and serve takes them together.
func TestDeployedCommands(t *testing.T) {
	for file, pattern := range map[string]string{
		"kubernetes/shadow.yaml":  `(?m)^            - (serve|--\S+=\S+)`,
		"systemd/shadow.service":  `(?m)^ExecStart=\S+ (.*)$`,
		"container/Containerfile": `(?m)^CMD \[("serve".*)\]$`,
	} {
		b, err := os.ReadFile(filepath.Join("..", "..", "deploy", file))
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(b), -1) {
			args = append(args, strings.Fields(strings.NewReplacer(`"`, "", ",", " ").Replace(m[1]))...)
		}
		if len(args) < 3 && !strings.Contains(file, "kubernetes") || len(args) == 0 || args[0] != "serve" {
			t.Fatalf("%s: no command in it: %q", file, args)
		}
		cmd := serve.New(console.System())
		if err := cmd.ParseFlags(args[1:]); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if rest := cmd.Flags().Args(); len(rest) > 0 {
			t.Errorf("%s: %q is left over", file, rest)
		}
	}
}

// TestPageHTTPS: the page with a certificate, and with a report made by another process.
func TestPageHTTPS(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The tests' own program takes the part of the installed one.
	program := filepath.Join(t.TempDir(), "shadow")
	script := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", commandVariable, self)
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	cert, key := testnats.Certificate(t)
	dir := filepath.Join(t.TempDir(), "store")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var errs safeBuffer
	env := console.Env{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Environ: os.Environ(), Executable: func() (string, error) { return program, nil }, Now: time.Now}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, []string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", dir, "--http-tls-cert", cert, "--http-tls-key", key}, env)
	}()
	says := regexp.MustCompile(`bus (nats://\S+), page (https://\S+), store`)
	var m []string
	for end := time.Now().Add(2 * time.Minute); m == nil; time.Sleep(10 * time.Millisecond) {
		if m = says.FindStringSubmatch(errs.String()); m == nil && time.Now().After(end) {
			t.Fatalf("serve does not start: %s", errs.String())
		}
	}
	token, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	if err := send(m[1], string(token), "h", true); err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, Timeout: time.Minute}
	ask := func(target string) (int, string) {
		r, err := client.Get(m[2] + target)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
	report := fmt.Sprintf("sessions/fake-%d/report.html", os.Getpid())
	code, body := 0, ""
	for end := time.Now().Add(2 * time.Minute); code != 200 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		code, body = ask(report)
	}
	if code != 200 || !strings.Contains(body, "com.acme.Fake$Task") || !strings.Contains(body, "<html") {
		t.Errorf("the report in a file: %d %.300s; %s", code, body, errs.String())
	}
	if code, body = ask(strings.Replace(report, "report.html", "data.json", 1)); code != 200 || !strings.Contains(body, "com.acme.Fake$Task") || !json.Valid([]byte(body)) {
		t.Errorf("its data: %d %.300s; %s", code, body, errs.String())
	}
	if code, body := ask("healthz"); code != 200 || body != "ok\n" {
		t.Errorf("healthz: %d %s", code, body)
	}
	plain := strings.Replace(m[2], "https", "http", 1)
	if r, err := http.Get(plain); err == nil && r.StatusCode == 200 {
		t.Error("the page is also to be had without TLS")
	}
	cancel()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}

func TestPageFlags(t *testing.T) {
	cert, key := testnats.Certificate(t)
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--http-tls-cert", cert}, 2, "give both or none"},
		{[]string{"--http-tls-key", key}, 2, "give both or none"},
		{[]string{"--http-tls-cert", key, "--http-tls-key", cert}, 1, "certificate of the live page"},
		{[]string{"--http-tls-cert", "/nowhere", "--http-tls-key", key}, 1, "no such file"},
		{[]string{"--http", "0.0.0.0:0"}, 1, "beyond loopback"},
	} {
		args := append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", filepath.Join(t.TempDir(), "s")}, c.args...)
		if code, _, errs := shadow(t, nil, args...); code != c.code || !strings.Contains(errs, c.says) {
			t.Errorf("%q: exit code %d: %s", c.args, code, errs)
		}
	}
}

// TestStoreOfOthers: a store that somebody else can put links into is refused.
func TestStoreOfOthers(t *testing.T) {
	for name, make := range map[string]func(dir string) error{
		"every user can write": func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chmod(dir, 0o777)
		},
		"belongs to": func(dir string) error {
			if os.Geteuid() != 0 {
				t.Skip("only root can give a folder away")
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.Chown(dir, 12345, 12345)
		},
	} {
		dir := filepath.Join(t.TempDir(), "s")
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := shadow(t, nil, "serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0", "--store", dir); code != 1 || !strings.Contains(errs, name) {
			t.Errorf("%s: exit code %d: %s", name, code, errs)
		}
	}
}

// What is written with -o has the permissions that the user's umask leaves.
func TestFileModes(t *testing.T) {
	dir, out := makeSession(t, t.TempDir()), filepath.Join(t.TempDir(), "tasks.csv")
	if code, _, errs := shadow(t, nil, "tasks", dir, "--format", "csv", "-o", out); code != 0 {
		t.Fatal(errs)
	}
	probe := filepath.Join(t.TempDir(), "probe")
	if err := os.WriteFile(probe, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat(probe)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(out); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v (%v)", got.Mode(), want.Mode(), err)
	}
}
