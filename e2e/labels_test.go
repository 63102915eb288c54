package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// The labels that OpenTelemetry's variables and an option give are those of the session in every listing.
func TestLabels(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	c := testjvm.Example(t, "pool").Command(t, jdk)
	c.Env = []string{
		"OTEL_SERVICE_NAME=shop", "POD_NAME=shop-7f", "NODE_NAME=n1",
		"OTEL_RESOURCE_ATTRIBUTES=service.name=other,service.version=1.4%2B2,deployment.environment.name=test,service.namespace=web,Bad=x",
	}
	c.Agent = []string{"--env", "staging", "--label", "team:a:b"}
	p := c.Session(t)
	if !strings.Contains(p.Stderr, "attributes of OTEL_RESOURCE_ATTRIBUTES that do not fit a label are left out: Bad") {
		t.Errorf("stderr: %s", p.Stderr)
	}
	free := map[string]string{"team": "a:b", "service.namespace": "web", "k8s.pod.name": "shop-7f", "k8s.node.name": "n1"}
	var stats struct {
		Labels struct {
			Service, Version, Env, Instance string
			Labels                          map[string]string
		}
	}
	decode(t, p.Shadow(t, "stats", p.Dir, "--format", "json"), &stats)
	if l := stats.Labels; l.Service != "shop" || l.Version != "1.4+2" || l.Env != "staging" || l.Instance != "shop-7f" || !reflect.DeepEqual(l.Labels, free) {
		t.Errorf("stats: %+v", l)
	}
	var list []struct{ Service, Version, Env, Instance, Labels string }
	store := filepath.Dir(p.Dir)
	decode(t, p.Shadow(t, "sessions", "ls", store, "--format", "json", "--service", "sh*", "--label", "team=a*"), &list)
	if len(list) != 1 || list[0].Service != "shop" || list[0].Version != "1.4+2" || list[0].Env != "staging" || list[0].Instance != "shop-7f" {
		t.Fatalf("sessions ls: %+v", list)
	}
	var listed map[string]string
	decode(t, []byte(list[0].Labels), &listed)
	if !reflect.DeepEqual(listed, free) {
		t.Errorf("sessions ls: labels %v", listed)
	}
	decode(t, p.Shadow(t, "sessions", "ls", store, "--format", "json", "--version", "2*"), &list)
	if len(list) != 0 {
		t.Errorf("another version: %+v", list)
	}
}

// A JVM without labels has an instance only; wrong ones in its environment cost it these labels, or with --strict its start.
func TestWrongLabels(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	c := testjvm.Example(t, "pool").Command(t, jdk)
	c.Env = []string{"OTEL_RESOURCE_ATTRIBUTES=service.name=shop,service.version=%2"}
	p := c.Session(t)
	if want := `OTEL_RESOURCE_ATTRIBUTES is ignored: "service.version=%2" has a wrong percent-encoding`; strings.Count(p.Stderr, want) != 1 || p.Exit != 0 {
		t.Errorf("exit %d, stderr: %s", p.Exit, p.Stderr)
	}
	var stats struct {
		JVM struct {
			PID  int
			Host string
		}
		Labels map[string]any
	}
	decode(t, p.Shadow(t, "stats", p.Dir, "--format", "json"), &stats)
	if want := fmt.Sprintf("%s-%d", stats.JVM.Host, stats.JVM.PID); len(stats.Labels) != 1 || stats.Labels["instance"] != want {
		t.Errorf("labels %v, want the instance %s alone", stats.Labels, want)
	}
	c.Agent = []string{"--strict"}
	if p := c.Profile(t); p.Exit == 0 || !regexp.MustCompile(`wrong percent-encoding; strict=true: the JVM does not start`).MatchString(p.Stderr) {
		t.Errorf("strict: exit %d, stderr: %s", p.Exit, p.Stderr)
	}
}

func decode(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
}
