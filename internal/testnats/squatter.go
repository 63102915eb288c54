package testnats

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// squatterVariable makes the test's own program the squatter.
const squatterVariable = "STACKAGENT_TEST_SQUATTER"

// greeting is what a NATS server with JetStream says first.
const greeting = `INFO {"server_id":"S","server_name":"S","version":"2.12.0","proto":1,"headers":true,"auth_required":true,"nonce":"c3F1YXR0ZXI","max_payload":1048576,"jetstream":true}` + "\r\n"

func init() {
	if place := os.Getenv(squatterVariable); place != "" {
		l, err := squat(place)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("listening")
		for {
			c, err := l.Accept()
			if err != nil {
				os.Exit(1)
			}
			go answer(c)
		}
	}
}

// squat listens as another user.
func squat(place string) (net.Listener, error) {
	address, user, _ := strings.Cut(place, " ")
	uid, err := strconv.Atoi(user)
	if err == nil && uid != os.Getuid() {
		if err = syscall.Setgid(uid); err == nil {
			err = syscall.Setuid(uid)
		}
	}
	if err != nil {
		return nil, err
	}
	return net.Listen("tcp", address)
}

// answer plays a server to one client, and passes on what it is sent.
func answer(c net.Conn) {
	defer c.Close()
	_, _ = io.WriteString(c, greeting)
	for lines := bufio.NewReader(c); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			fmt.Printf("%q\n", line)
		}
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "PING") {
			_, _ = io.WriteString(c, "PONG\r\n")
		}
	}
}

// Squatter is a process that holds the port of a bus and plays a server.
type Squatter struct {
	cmd *exec.Cmd

	mu  sync.Mutex
	got []string
}

// Squat starts one at address, of the user with id uid; only root may name another one than its own.
func Squat(t testing.TB, address string, uid int) *Squatter {
	t.Helper()
	s := &Squatter{cmd: exec.Command("/proc/self/exe")}
	s.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d", squatterVariable, address, uid))
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.End)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 4<<20)
	if !lines.Scan() || lines.Text() != "listening" {
		t.Fatalf("the squatter does not listen on %s: %s", address, lines.Text())
	}
	go func() {
		for lines.Scan() {
			s.mu.Lock()
			s.got = append(s.got, lines.Text())
			s.mu.Unlock()
		}
	}()
	return s
}

// Got is what clients have sent.
func (s *Squatter) Got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// End gives the port free.
func (s *Squatter) End() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	time.Sleep(10 * time.Millisecond) // the last lines
}
