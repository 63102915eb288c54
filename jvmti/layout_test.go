package jvmti_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackagent/agent/classfile"
)

var update = flag.Bool("update", false, "write generated files anew")

const layoutFile = "java/java/lang/StackagentLayout.java"

// TestJavaLayout: the Java constants of C structures are those of the C compiler; -update writes the file.
func TestJavaLayout(t *testing.T) {
	out, err := exec.Command(compile(t, []string{"-O2", "-Wno-unused-parameter"}, "testdata/layout_main.c")).Output()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(layoutFile, out, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(layoutFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, out) {
		t.Errorf("%s is stale; renew it: go test ./jvmti -run TestJavaLayout -update", layoutFile)
	}
}

// The layout is copied into the helper's classes: the agent does not define the class that declares it.
func TestJavaLayoutIsInlined(t *testing.T) {
	classes, err := filepath.Glob("helper/java/lang/*.class")
	if err != nil || len(classes) < 5 {
		t.Fatalf("the helper's classes (make builds them): %v, %v", classes, err)
	}
	for _, path := range classes {
		class, err := os.ReadFile(path)
		if filepath.Base(path) == "StackagentLayout.class" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := classfile.Parse(class)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for i := range parsed.Pool.Len() {
			if owner, name, _, err := parsed.Pool.MemberRef(uint16(i)); err == nil && owner == "java/lang/StackagentLayout" {
				t.Errorf("%s refers to %s of StackagentLayout", path, name)
			}
		}
	}
}
