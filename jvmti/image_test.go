package jvmti_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/agent/instrument"
	"stackagent/agent/jimage"
	"stackagent/internal/testjvm"
)

// What the C side says of the JDK's own classes (all of java.base, some of the
// rest) is what the Go side works out from the same image.
func TestImageKindsAgree(t *testing.T) {
	for _, jdk := range testjvm.JDKs(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			lib := filepath.Join(jdk.Home, "lib")
			image, err := jimage.Open(filepath.Join(lib, "modules"))
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			compareKinds(t, image, startC(t, []string{"testdata/image_main.c", "class_header.c", "class_sites.c", "class_names.c"}, lib))
		})
	}
}

func compareKinds(t *testing.T, image *jimage.Image, c *cProgram) {
	hierarchy := instrument.NewImageHierarchy(image.Class, instrument.Options{})
	tasks, bad := 0, 0
	ask := func(name string) {
		want := "unknown"
		if kinds, ok := hierarchy.Kinds(name); ok {
			want = fmt.Sprint(int(kinds))
			if kinds != 0 {
				tasks++
			}
		}
		if got := c.ask(t, []byte(name+"\n")); got != want {
			if bad++; bad < 10 {
				t.Errorf("%s: the C side says %s, the Go side %s", name, got, want)
			}
		}
	}
	for _, name := range []string{"com/acme/Job", "Job", "java/lang/", "/", strings.Repeat("a/", 280) + "B"} {
		ask(name)
	}
	n := 0
	err := image.Each(func(module, name string, _ []byte) error {
		n++
		if !strings.HasSuffix(name, "module-info") && (module == "java.base" || n%10 == 0) {
			ask(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if tasks < 200 {
		t.Errorf("only %d task classes in the image", tasks)
	}
}
