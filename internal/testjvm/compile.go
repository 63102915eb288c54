package testjvm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Compile compiles the Java sources under dir with jdk's javac and returns the
// folder of classes. A folder with a module-info.java is compiled by itself
// into a folder of the same name in it. Results are kept in the user's
// cache, by the contents of the sources and the version of the JDK. Extra is
// appended to javac's options (a class path, say).
func Compile(t testing.TB, jdk JDK, dir string, extra ...string) string {
	t.Helper()
	out, err := compile(jdk, dir, extra)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compile(jdk JDK, dir string, extra []string) (string, error) {
	units, key, err := sources(dir)
	if err != nil {
		return "", fmt.Errorf("listing the sources in %s: %w", dir, err)
	}
	key += "\x00" + jdk.Full + "\x00" + strings.Join(jdk.javac(), " ") + "\x00" + strings.Join(extra, "\x00")
	sum := sha256.Sum256([]byte(key))
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir() // no home folder: compile anew after each boot
	}
	base := filepath.Join(cache, "stackagent", "testjvm")
	out := filepath.Join(base, hex.EncodeToString(sum[:12]))
	if _, err := os.Stat(out); err == nil {
		return out, nil
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("making the cache of compiled programs: %w", err)
	}
	tmp, err := os.MkdirTemp(base, ".compiling-")
	if err != nil {
		return "", fmt.Errorf("making the cache of compiled programs: %w", err)
	}
	defer os.RemoveAll(tmp)
	for unit, files := range units {
		if err := javac(jdk, filepath.Join(tmp, unit), files, extra); err != nil {
			return "", err
		}
	}
	// Tests of several packages may compile the same program at once: the
	// first rename wins, the others find a whole folder there.
	if err := os.Rename(tmp, out); err != nil {
		if _, there := os.Stat(out); there != nil {
			return "", fmt.Errorf("keeping the classes of %s: %w", dir, err)
		}
	}
	return out, nil
}

// sources lists the Java files under dir by compilation unit ("" or the name
// of a module's folder) and returns their contents as a key.
func sources(dir string) (units map[string][]string, key string, err error) {
	units = map[string][]string{}
	var content strings.Builder
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".java" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		unit := ""
		if top, _, nested := strings.Cut(rel, string(filepath.Separator)); nested {
			if _, err := os.Stat(filepath.Join(dir, top, "module-info.java")); err == nil {
				unit = top
			}
		}
		units[unit] = append(units[unit], path)
		fmt.Fprintf(&content, "%s\x00%d\x00%s", rel, len(b), b)
		return nil
	})
	if err == nil && len(units) == 0 {
		err = fmt.Errorf("no .java files")
	}
	return units, content.String(), err
}

func javac(jdk JDK, out string, files, extra []string) error {
	line := jdk.javac()
	// The first compiler of the JVM and the simplest collector: javac has ended before others pay.
	line = append(line, "-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-encoding", "UTF-8", "-nowarn", "-d", out)
	line = append(append(line, extra...), files...)
	if output, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s of %v: %w\n%s", line[0], files, err, output)
	}
	return nil
}
