//go:build consumers

package consumers

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/shadow/store/objectstore"
	"stackagent/shadow/store/objectstore/objectstoretest"
)

// gatewayVersion is the version of Versity's S3 gateway that is built.
const gatewayVersion = "v1.8.0"

// builtGateway builds an S3 server that shares no code with the one of the unit tests, into the cache.
func builtGateway(t *testing.T) string {
	t.Helper()
	dir := cache(t, "versitygw-"+gatewayVersion)
	binary := filepath.Join(dir, "versitygw")
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	t.Logf("building versitygw %s in %s, which takes minutes and downloads its modules", gatewayVersion, dir)
	cmd := exec.Command("go", "install", "github.com/versity/versitygw/cmd/versitygw@"+gatewayVersion)
	cmd.Dir = t.TempDir() // outside of this module
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// gateway starts a server with an empty bucket and gives the address of a prefix there.
func gateway(t *testing.T) (address, folder string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	root := t.TempDir()
	bucket := filepath.Join(root, "fleet")
	meta := filepath.Join(t.TempDir(), "meta") // not every file system of a test has extended attributes
	for _, dir := range []string{bucket, meta} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	cmd := exec.Command(builtGateway(t), "--port", at, "--access", "tester", "--secret", "not-a-secret", "--region", "eu-central-1", "--quiet",
		"posix", "--sidecar", meta, root)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("versitygw: %s", log.String())
		}
	})
	t.Setenv("AWS_ACCESS_KEY_ID", "tester")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "not-a-secret")
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://"+at)
	t.Setenv("AWS_REGION", "eu-central-1")
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", at)
		if err == nil {
			c.Close()
			return "s3://fleet/team/a", filepath.Join(bucket, "team", "a")
		}
		if time.Now().After(end) {
			t.Fatalf("versitygw does not answer: %v\n%s", err, log.String())
		}
	}
}

// TestVersityGW: another implementation of S3 keeps what an object store has to promise, and a session there reads as on
// the disk.
func TestVersityGW(t *testing.T) {
	stores := 0
	address, folder := gateway(t)
	open := func(t *testing.T) objectstore.Store {
		stores++
		s, err := objectstore.Open(context.Background(), fmt.Sprintf("%s/%d", address, stores))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := objectstore.Probe(t.Context(), open(t)); err != nil {
		t.Errorf("probe: %v", err)
	}
	t.Run("promises", func(t *testing.T) { objectstoretest.Run(t, open) })
	t.Run("session", func(t *testing.T) {
		dir, _ := sessions(t)
		s := open(t)
		objectstoretest.Copy(t, s, dir, "session=pool")
		if files, err := os.ReadDir(filepath.Join(folder, fmt.Sprint(stores), "session=pool")); err != nil || len(files) == 0 {
			t.Errorf("the gateway keeps no files: %v", err)
		}
		for _, verb := range [][]string{{"stats"}, {"hotspots"}, {"tasks", "--format", "csv"}} {
			command := filepath.Join(testjvm.Root(t), "bin", "shadow")
			local := run(t, dir, nil, command, append(verb, dir)...)
			far := run(t, dir, nil, command, append(verb, s.String()+"/session=pool")...)
			if local != far || strings.TrimSpace(local) == "" {
				t.Errorf("%v: %s\non the disk: %s", verb, far, local)
			}
		}
	})
}
