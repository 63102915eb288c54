//go:build consumers

package consumers

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// dist makes a release, with a version of its own.
func dist(t *testing.T, env ...string) (dir, version string) {
	t.Helper()
	dir, version = filepath.Join(t.TempDir(), "dist"), "1.2.3"
	run(t, testjvm.Root(t), env, "scripts/dist.sh", dir, version)
	return dir, version
}

func needs(t *testing.T, commands ...string) {
	t.Helper()
	for _, c := range commands {
		if _, err := exec.LookPath(c); err != nil {
			t.Skipf("not available: %s (apt-get install %s)", c, c)
		}
	}
}

// TestRelease: two builds have the same bytes; each package is installed, runs and is removed without leaving anything.
func TestRelease(t *testing.T) {
	needs(t, "dpkg-deb", "rpm", "mmdebstrap")
	dir, version := dist(t)
	run(t, dir, nil, "sha256sum", "--check", "--quiet", "SHA256SUMS")
	again, _ := dist(t, "GOCACHE="+t.TempDir()) // nothing comes from the first build
	for _, name := range names(t, dir) {
		if sum(t, filepath.Join(dir, name)) != sum(t, filepath.Join(again, name)) {
			t.Errorf("%s: two builds differ", name)
		}
	}
	t.Run("tarball", func(t *testing.T) {
		tmp := t.TempDir()
		name := "stackagent-" + version + "-linux-amd64"
		run(t, tmp, nil, "tar", "-xzf", filepath.Join(dir, name+".tar.gz"))
		command := filepath.Join(tmp, name, "bin", "shadow")
		if got := run(t, tmp, nil, command, "--version"); !strings.Contains(got, version) {
			t.Errorf("--version: %s", got)
		}
		profilesPool(t, command)
	})
	t.Run("deb", func(t *testing.T) {
		root := chroot(t)
		before := list(t, root)
		file := filepath.Join(dir, "stackagent-"+version+"-linux-amd64.deb")
		run(t, root, nil, "cp", file, filepath.Join(root, "tmp", "s.deb"))
		run(t, root, nil, "chroot", root, "dpkg", "--install", "/tmp/s.deb")
		installed(t, root, version)
		run(t, root, nil, "chroot", root, "dpkg", "--purge", "stackagent")
		run(t, root, nil, "rm", filepath.Join(root, "tmp", "s.deb"))
		gone(t, before, list(t, root))
	})
	t.Run("rpm", func(t *testing.T) {
		root := chroot(t)
		before := list(t, root)
		with := []string{"--dbpath", "/rpmdb", "--root", root, "--nodeps"} // a root of Debian: what is needed is no package of rpm there
		run(t, root, nil, "rpm", append(with, "--install", filepath.Join(dir, "stackagent-"+version+"-linux-amd64.rpm"))...)
		installed(t, root, version)
		run(t, root, nil, "rpm", append(with, "--erase", "stackagent")...)
		run(t, root, nil, "rm", "-rf", filepath.Join(root, "rpmdb"))
		gone(t, before, list(t, root))
	})
}

// chroot is a small Debian, made once.
func chroot(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not available: installing into a folder needs root")
	}
	image := filepath.Join(cache(t, "debian"), "minbase.tar")
	if _, err := os.Stat(image); err != nil {
		run(t, t.TempDir(), nil, "mmdebstrap", "--quiet", "--variant=minbase", "bookworm", image+".new.tar")
		if err := os.Rename(image+".new.tar", image); err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	run(t, root, nil, "tar", "-xf", image, "--exclude=./dev/*")
	return root
}

// installed checks that the command runs where it was installed, finds the library, and has its pages.
func installed(t *testing.T, root, version string) {
	t.Helper()
	if got := run(t, root, nil, "chroot", root, "/usr/bin/shadow", "--version"); !strings.Contains(got, version) {
		t.Errorf("--version: %s", got)
	}
	for _, name := range []string{"usr/lib/stackagent/libstackagent.so", "usr/share/man/man1/stackagent-shadow-run.1.gz", "usr/share/bash-completion/completions/shadow",
		"usr/share/doc/stackagent/THIRD_PARTY_NOTICES", "usr/share/doc/stackagent/sbom/shadow.cdx.json"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
	profilesPool(t, filepath.Join(root, "usr/lib/stackagent/shadow"))
}

// profilesPool runs an example under a command, with the library beside it.
func profilesPool(t *testing.T, command string) {
	t.Helper()
	jdk := testjvm.JDKs(t)[0]
	o := testjvm.Example(t, "pool")
	out := run(t, t.TempDir(), []string{"STACKAGENT_AGENT="}, command, "run", "--quiet", "-o", filepath.Join(t.TempDir(), "session"), "--",
		filepath.Join(jdk.Home, "bin", "java"), "-cp", testjvm.Compile(t, jdk, o.Dir), "Main")
	if !o.Prints(out) {
		t.Errorf("the program printed %q", out)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func sum(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b))
}

// list has the files below a folder, but what package managers write down.
func list(t *testing.T, root string) (files []string) {
	t.Helper()
	for line := range strings.Lines(run(t, root, nil, "find", ".", "-path", "./var", "-prune", "-o", "-print")) {
		files = append(files, strings.TrimSpace(line))
	}
	slices.Sort(files)
	return files
}

func gone(t *testing.T, before, after []string) {
	t.Helper()
	for _, name := range after {
		if _, found := slices.BinarySearch(before, name); !found {
			t.Errorf("left after the removal: %s", name)
		}
	}
}

// TestImage builds the image of a release without a network, where a builder runs.
func TestImage(t *testing.T) {
	needs(t, "buildah")
	dir, version := dist(t)
	storage := t.TempDir()
	with := []string{"--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run"), "--storage-driver", "vfs"}
	run(t, dir, nil, "buildah", append(with, "build", "--isolation", "chroot", "--build-arg", "VERSION="+version, "-t", "stackagent",
		"-f", filepath.Join(testjvm.Root(t), "deploy/container/Containerfile.release"), dir)...)
	container := strings.TrimSpace(run(t, dir, nil, "buildah", append(with, "from", "--pull-never", "stackagent")...))
	if got := run(t, dir, nil, "buildah", append(with, "run", "--isolation", "chroot", container, "--", "shadow", "--version")...); !strings.Contains(got, version) {
		t.Errorf("--version in the image: %s", got)
	}
}

// TestHelm: with its default values the chart makes what the kustomization makes, and every value does something.
func TestHelm(t *testing.T) {
	root := testjvm.Root(t)
	helm := func(args ...string) string {
		return run(t, root, nil, "go", append([]string{"run", "helm.sh/helm/v3/cmd/helm@v3.19.0"}, args...)...)
	}
	helm("lint", "--strict", "deploy/helm/stackagent")
	defaults := helm("template", "stackagent", "deploy/helm/stackagent", "--namespace", "stackagent")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "chart.yaml"), []byte(defaults), 0o600); err != nil {
		t.Fatal(err)
	}
	more := helm("template", "stackagent", "deploy/helm/stackagent", "--namespace", "other", "--set", "observer.enabled=true,observer.namespace=watch,shadow.replicas=5,"+
		"shadow.tag=9.9,shadow.storage=7Gi,shadow.storageClass=fast,shadow.memoryLimit=9Gi,shadow.goMemoryLimit=8GiB,shadow.extraArgs={--otlp=http://c:4318},"+
		"nats.image=n:1,nats.storage=8Gi,nats.storageClass=slow,network.profiledLabel=yes,network.readers=eyes,network.dns=names,shadow.image=reg/s")
	for _, want := range []string{"namespace: watch", "replicas: 5", "reg/s:9.9", "storage: 7Gi", "storageClassName: fast", "memory: 9Gi", "value: 8GiB",
		`"--otlp=http://c:4318"`, "image: n:1", "storage: 8Gi", "storageClassName: slow", "stackagent: yes", "metadata.name: eyes", "metadata.name: names", "nats.other.svc"} {
		if !strings.Contains(more, want) {
			t.Errorf("the chart ignores the value of %q", want)
		}
	}
	if without := helm("template", "stackagent", "deploy/helm/stackagent", "--set", "network.policies=false"); strings.Contains(without, "NetworkPolicy") {
		t.Error("network.policies=false makes policies")
	}
	// The types of the API, strictly, and the kustomization: in the module that has them.
	run(t, filepath.Join(root, "deploy/check"), []string{"STACKAGENT_CHART=" + filepath.Join(folder, "chart.yaml")}, "go", "test", "-count=1", "-run", "TestChart", ".")
}
