//go:build consumers

package consumers

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// read decodes a YAML file of integrations.
func read(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(absolute(t, path))
	if err == nil {
		err = yaml.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// release packs this project's shadow and gives the archive and its checksum.
func release(t *testing.T) (url, sum string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stackagent.tar.gz")
	if out, ok := tool(t, absolute(t, "bin"), "tar", "-czf", file, "shadow", "libstackagent.so"); !ok {
		t.Fatal(out)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + file, fmt.Sprintf("%x", sha256.Sum256(data))
}

// java is a line of shell that runs a program with 300 orders, in dir.
func program(t *testing.T, dir string) string {
	t.Helper()
	source := "public class Shop { static class Order implements Runnable { public void run() {} }\n" +
		"public static void main(String[] a) throws Exception { for (int i = 0; i < 300; i++) new Order().run(); } }\n"
	if err := os.WriteFile(filepath.Join(dir, "Shop.java"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, ok := tool(t, dir, filepath.Join(os.Getenv("JAVA_HOME"), "bin", "javac"), "Shop.java"); !ok {
		t.Fatal(out)
	}
	budgets := "budgets:\n- name: orders\n  expr: class(\"Shop$Order\").executions < 300\n"
	if err := os.WriteFile(filepath.Join(dir, "budgets.yaml"), []byte(budgets), 0o644); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(os.Getenv("JAVA_HOME"), "bin", "java") + " -cp . Shop"
}

// shell runs a script with more variables, and gives its output and exit code. There is no shadow but the release's.
func shell(t *testing.T, dir, script string, env ...string) (string, int) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append([]string{"HOME=" + dir, "PATH=/usr/bin:/bin"}, env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// shellcheck looks at a script of a file of CI.
func shellcheck(t *testing.T, name, script string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, ok := tool(t, ".", "shellcheck", "-e", "SC2086", file); !ok {
		t.Errorf("%s:\n%s", name, out)
	}
}

// schema checks a file against a schema that check-jsonschema (PyPI) brings.
func schema(t *testing.T, name, file string) {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	venv := filepath.Join(cache, "stackagent", "consumers", "check-jsonschema")
	command := filepath.Join(venv, "bin", "check-jsonschema")
	if _, err := os.Stat(command); err != nil {
		t.Logf("downloading check-jsonschema into %s", venv)
		for _, words := range [][]string{{"python3", "-m", "venv", venv}, {filepath.Join(venv, "bin", "pip"), "install", "-q", "check-jsonschema==0.39.0"}} {
			if out, ok := tool(t, ".", words...); !ok {
				t.Fatal(out)
			}
		}
	}
	if out, ok := tool(t, ".", command, "--builtin-schema", name, absolute(t, file)); !ok {
		t.Error(out)
	}
}

type action struct {
	Runs struct {
		Steps []struct {
			Name string            `yaml:"name"`
			Run  string            `yaml:"run"`
			Env  map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

// The action's scripts are run as a runner does, with the variables that it sets.
func TestGitHubAction(t *testing.T) {
	schema(t, "vendor.github-actions", "integrations/github-action/action.yml")
	dir := t.TempDir()
	workflows := filepath.Join(dir, ".github", "workflows")
	if err := os.MkdirAll(workflows, 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"example.yml": filepath.Join(workflows, "example.yml"), "action.yml": filepath.Join(dir, "integrations", "github-action", "action.yml")} {
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(absolute(t, "integrations/github-action/"+from))
		if err == nil {
			err = os.WriteFile(to, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if out, ok := tool(t, dir, "git", "init", "-q", "."); !ok { // actionlint looks for the repository
		t.Fatal(out)
	}
	if out, ok := tool(t, dir, "go", "run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7", "-no-color"); !ok {
		t.Errorf("actionlint:\n%s", out)
	}

	var a action
	read(t, "integrations/github-action/action.yml", &a)
	url, sum := release(t)
	command := program(t, dir)
	path := "/usr/bin:/bin"
	ran := 0
	for _, step := range a.Runs.Steps {
		if step.Run == "" {
			continue
		}
		ran++
		shellcheck(t, step.Name, step.Run)
		env := []string{"RUNNER_TEMP=" + filepath.Join(dir, "temp"), "GITHUB_PATH=" + filepath.Join(dir, "path"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md"),
			"PATH=" + path, "URL=" + url, "SHA256=" + sum, "COMMAND=" + command, "OPTIONS=--metric wall", "SESSIONS=sessions", "BUDGETS=budgets.yaml", "FAIL_IF="}
		if step.Name == "Install stackagent" {
			if out, code := shell(t, dir, step.Run, append(env, "SHA256="+strings.Repeat("0", 64))...); code == 0 {
				t.Errorf("installed an archive with another checksum:\n%s", out)
			}
		}
		want := 0
		if step.Name == "Check budgets" {
			want = 3
		}
		out, code := shell(t, dir, step.Run, env...)
		if code != want {
			t.Fatalf("%s: exit %d, want %d\n%s", step.Name, code, want, out)
		}
		if want == 3 && !strings.Contains(out, "::error") {
			t.Errorf("no annotation:\n%s", out)
		}
		if added, err := os.ReadFile(filepath.Join(dir, "path")); err == nil {
			path = strings.TrimSpace(string(added)) + ":/usr/bin:/bin"
		}
	}
	if ran != 4 {
		t.Errorf("ran %d steps, want 4", ran)
	}
	if summary, err := os.ReadFile(filepath.Join(dir, "summary.md")); err != nil || !strings.Contains(string(summary), "executions is 300") {
		t.Errorf("summary: %v\n%s", err, summary)
	}
	if info, err := os.Stat(filepath.Join(dir, "stackagent-report.html")); err != nil || info.Size() < 10_000 {
		t.Errorf("report: %v", err)
	}
}

func TestGitLabJob(t *testing.T) {
	schema(t, "vendor.gitlab-ci", "integrations/gitlab/stackagent.yml")
	var file struct {
		Job struct {
			Before []string `yaml:"before_script"`
			Script []string `yaml:"script"`
		} `yaml:".stackagent"`
	}
	read(t, "integrations/gitlab/stackagent.yml", &file)
	script := strings.Join(append(file.Job.Before, file.Job.Script...), "\n")
	shellcheck(t, "gitlab", script)
	dir := t.TempDir()
	url, sum := release(t)
	command := program(t, dir)
	out, code := shell(t, dir, script, "STACKAGENT_URL="+url, "STACKAGENT_SHA256="+sum, "STACKAGENT_COMMAND="+command, "STACKAGENT_OPTIONS=", "STACKAGENT_BUDGETS=budgets.yaml")
	if code != 3 {
		t.Fatalf("exit %d, want 3\n%s", code, out)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "stackagent.xml")); err != nil || !strings.Contains(string(data), "executions is 300") {
		t.Errorf("JUnit XML: %v\n%s", err, data)
	}
}
