package instrument

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

func TestLambdaName(t *testing.T) {
	const target = "com.acme.Main.lambda$main$0"
	tests := []struct{ hidden, target, want string }{
		{"com.acme.Main$$Lambda$14/0x0000000800c03000", target, "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0"},
		{"com.acme.Main$$Lambda/0x00007f1c3c001000", target, "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0"},
		{"com/acme/Main$$Lambda.0x00007f1c3c001000", target, "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0"},
		{"com/acme/Main$$Lambda+0x00007f1c3c001000", "", "com.acme.Main$$Lambda"},
		{"com/acme/Main$$Lambda$3", "", "com.acme.Main$$Lambda"},
		{"Main$Inner$$Lambda$3/0x1", "Main$Inner.run", "Main$Inner$$Lambda -> Main$Inner.run"},
		{"com.acme.Spun/0x0000000800c03000", "", "com.acme.Spun"},
		{"com.acme.Plain", "", "com.acme.Plain"},
		{"", "", ""},
	}
	for _, tt := range tests {
		if got := LambdaName(tt.hidden, tt.target); got != tt.want {
			t.Errorf("LambdaName(%q, %q) = %q, want %q", tt.hidden, tt.target, got, tt.want)
		}
	}
}

// TestLambdaTarget reads the classes that each JDK spins for lambdas, as its
// own switches for that write them to files.
func TestLambdaTarget(t *testing.T) {
	jdks := testjvm.JDKs(t)
	program := compile(t, jdks[0], "lambdas")
	want := []string{
		"java.lang.Integer.valueOf",
		"java.lang.Object.toString",
		"lam.Lambdas$Box.<init>",
		"lam.Lambdas.bound",
		"lam.Lambdas.lambda$main$0",
		"lam.Lambdas.ofNothing",
		"lam.Lambdas.wide",
	}
	for _, jdk := range jdks {
		dir := t.TempDir()
		cmd := exec.Command(jdk.Tool("java"), "-Djdk.internal.lambda.dumpProxyClasses="+dir, // JDK 17
			"-Djdk.invoke.LambdaMetafactory.dumpProxyClassFiles=true", // JDK 21 and later, into the working directory
			"-cp", program.dir, "lam.Lambdas")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", jdk, err, out)
		}
		var got []string
		for name, b := range readClasses(t, dir) {
			target, ok := LambdaTarget(b)
			if !ok {
				t.Errorf("%s: no target in %s", jdk, name)
			}
			if strings.Contains(name, "lam/Lambdas") {
				got = append(got, target)
			}
			if out, err := weaveClass(Input{Class: b, Supers: knowsAll{}, Hidden: true}, Options{}); err != nil {
				t.Errorf("%s: weave %s: %d bytes, %v", jdk, name, len(out), err)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: targets %q, want %q", jdk, got, want)
		}
	}
	for name, b := range program.classes {
		if name == "lam/Lambdas$Box" {
			if target, ok := LambdaTarget(b); ok {
				t.Errorf("a class without methods has the target %q", target)
			}
		}
	}
}
