package jvmti_test

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/agent/jimage"
	"stackagent/internal/units"
)

// cProgram is C code of the agent, compiled under the sanitizers, as a process
// that answers a line to each question.
type cProgram struct {
	in  io.Writer
	out *bufio.Reader
}

// startC compiles sources and starts the program with args.
func startC(t testing.TB, sources []string, arguments ...string) *cProgram {
	t.Helper()
	cmd := exec.Command(compile(t, checked, sources...), arguments...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %v", sources, err)
		}
	})
	return &cProgram{in, bufio.NewReader(out)}
}

func (p *cProgram) ask(t testing.TB, question []byte) string {
	t.Helper()
	if _, err := p.in.Write(question); err != nil {
		t.Fatalf("the C program has died: %v", err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		t.Fatalf("the C program has died: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

type headerReader struct{ *cProgram }

func startHeaderReader(t testing.TB) headerReader {
	t.Helper()
	return headerReader{startC(t, []string{"testdata/header_main.c", "class_header.c", "class_sites.c"})}
}

func (r headerReader) read(t testing.TB, class []byte) string {
	t.Helper()
	return r.ask(t, append(binary.LittleEndian.AppendUint32(nil, uint32(len(class))), class...))
}

// agree compares the C reader's line with the Go parser's view of the class,
// as far as the C reader promises: short names, few supertypes.
func agree(line string, h classfile.Header) error {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return fmt.Errorf("%s: the C reader says %q", h.Name, line)
	}
	if fields[2] != "1" {
		return nil // the reader says that its answer is incomplete
	}
	want := append([]string{}, h.Interfaces...)
	if h.Super != "" {
		want = append([]string{h.Super}, want...)
	}
	if got := strings.Join(fields[3:], " "); fields[0] != h.Name || got != strings.Join(want, " ") {
		return fmt.Errorf("%s under %v: the C reader says %s under %q", h.Name, want, fields[0], got)
	}
	return nil
}

// hasSites is the bit of the C reader's second word that says so.
const hasSites = 2

// agreeOnMethods compares what the C reader says of execution methods with what
// the Go parser finds.
func agreeOnMethods(line string, b []byte) error {
	class, err := classfile.Parse(b)
	if err != nil {
		return err
	}
	kinds := map[string]units.Kinds{"run()V": units.KindRunnable, "call()L": units.KindCallable, "call()[": units.KindCallable,
		"exec()Z": units.KindForkJoin}
	var want units.Kinds
	for _, m := range class.Methods {
		if m.Access&(classfile.AccPublic|classfile.AccStatic|classfile.AccNative|classfile.AccAbstract) == classfile.AccPublic {
			want |= kinds[m.Name+m.Descriptor]
			want |= kinds[m.Name+m.Descriptor[:min(3, len(m.Descriptor))]] // covariant
		}
	}
	final := class.Access & classfile.AccFinal / classfile.AccFinal
	if got, _ := strconv.Atoi(strings.Fields(line)[1]); got&^hasSites != int(want)<<2|int(final) {
		return fmt.Errorf("%s: the C reader says %d of kinds %d, final %d", line, got, want, final)
	}
	return nil
}

// Both readers agree on every class of the JDK in use.
func TestHeaderReadersAgree(t *testing.T) {
	image, err := jimage.Open(filepath.Join(os.Getenv("JAVA_HOME"), "lib", "modules"))
	if err != nil {
		t.Fatalf("JAVA_HOME must name a JDK (make sets it): %v", err)
	}
	defer image.Close()
	reader := startHeaderReader(t)
	n, bad := 0, 0
	err = image.Each(func(module, name string, class []byte) error {
		if strings.HasSuffix(name, "module-info") {
			return nil
		}
		n++
		h, err := classfile.ParseHeader(class)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line := reader.read(t, class)
		if err := errors.Join(agree(line, h), agreeOnMethods(line, class)); err != nil {
			if bad++; bad < 10 {
				t.Error(err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 5000 {
		t.Errorf("only %d classes in the image", n)
	}
}

// For any bytes, the C reader does not read beyond them (sanitizers), and agrees with
// the Go parser if that accepts them.
func FuzzHeader(f *testing.F) {
	reader := startHeaderReader(f)
	class, err := os.ReadFile("helper/java/lang/Stackagent.class")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(class)
	f.Add(class[:len(class)/2])
	f.Add([]byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0xFF, 0xFF})
	f.Fuzz(func(t *testing.T, class []byte) {
		line := reader.read(t, class)
		h, err := classfile.ParseHeader(class)
		if err != nil || strings.ContainsAny(h.Name+h.Super+strings.Join(h.Interfaces, ""), " \t\n\v\f\r\x00\u0085\u00a0") {
			return
		}
		if err := agree(line, h); err != nil {
			t.Error(err)
		}
	})
}
