// Package check holds the files of deploy/ against the types and parsers of those who will read them. It is a module
// of its own: what it needs is no dependency of the profiler.
package check

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

const manifests = "../kubernetes"

// kinds are the types of the API's objects that the manifests use.
var kinds = map[string]func() any{
	"v1/Namespace":                       func() any { return new(corev1.Namespace) },
	"v1/Service":                         func() any { return new(corev1.Service) },
	"v1/ConfigMap":                       func() any { return new(corev1.ConfigMap) },
	"apps/v1/StatefulSet":                func() any { return new(appsv1.StatefulSet) },
	"apps/v1/Deployment":                 func() any { return new(appsv1.Deployment) },
	"policy/v1/PodDisruptionBudget":      func() any { return new(policyv1.PodDisruptionBudget) },
	"networking.k8s.io/v1/NetworkPolicy": func() any { return new(networkingv1.NetworkPolicy) },
}

// objects decodes every object of every manifest strictly: a field that is
// misspelt or in the wrong place is an error.
func objects(t *testing.T) map[string][]any { return objectsOf(t, manifests+"/*.yaml") }

func objectsOf(t *testing.T, pattern string) map[string][]any {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests: %v", err)
	}
	all := map[string][]any{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for r := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(b))); ; {
			doc, err := r.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			var head struct{ APIVersion, Kind string }
			if err := sigsyaml.Unmarshal(doc, &head); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if head.Kind == "Kustomization" {
				continue
			}
			make := kinds[head.APIVersion+"/"+head.Kind]
			if make == nil {
				t.Fatalf("%s: no type for %s %s", file, head.APIVersion, head.Kind)
			}
			object := make()
			if err := sigsyaml.UnmarshalStrict(doc, object); err != nil {
				t.Errorf("%s, %s: %v", file, head.Kind, err)
			}
			all[filepath.Base(file)] = append(all[filepath.Base(file)], object)
		}
	}
	return all
}

// pods are the pods' templates, with their labels.
func pods(t *testing.T) map[string]corev1.PodTemplateSpec {
	t.Helper()
	templates := map[string]corev1.PodTemplateSpec{}
	for _, list := range objects(t) {
		for _, o := range list {
			switch o := o.(type) {
			case *appsv1.StatefulSet:
				templates[o.Name] = o.Spec.Template
				if !matches(o.Spec.Selector.MatchLabels, o.Spec.Template.Labels) {
					t.Errorf("%s does not select its own pods", o.Name)
				}
			case *appsv1.Deployment:
				templates[o.Name] = o.Spec.Template
				if !matches(o.Spec.Selector.MatchLabels, o.Spec.Template.Labels) {
					t.Errorf("%s does not select its own pods", o.Name)
				}
			}
		}
	}
	if len(templates) != 3 {
		t.Errorf("%d kinds of pods, want nats, shadow and the example", len(templates))
	}
	return templates
}

func matches(selector, labels map[string]string) bool {
	for k, v := range selector {
		if labels[k] != v {
			return false
		}
	}
	return len(selector) > 0
}

// TestPodsAreRestricted: each pod is what the profile "restricted" of the pod
// security standards allows, and more careful.
func TestPodsAreRestricted(t *testing.T) {
	for name, template := range pods(t) {
		p := template.Spec
		switch s := p.SecurityContext; {
		case s == nil, s.RunAsNonRoot == nil || !*s.RunAsNonRoot, s.RunAsUser == nil || *s.RunAsUser == 0,
			s.SeccompProfile == nil || s.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault:
			t.Errorf("%s: the pod's security context: %+v", name, s)
		}
		if p.HostNetwork || p.HostPID || p.HostIPC || p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
			t.Errorf("%s has more of its node or of the API than it needs", name)
		}
		mounted := map[string]bool{}
		for _, c := range slices.Concat(p.InitContainers, p.Containers) {
			checkContainer(t, name, &c)
			for _, m := range c.VolumeMounts {
				mounted[m.Name] = true
			}
		}
		for _, v := range p.Volumes {
			if v.HostPath != nil {
				t.Errorf("%s mounts a folder of the node", name)
			}
			if !mounted[v.Name] {
				t.Errorf("%s: the volume %s is mounted nowhere", name, v.Name)
			}
			delete(mounted, v.Name)
		}
		delete(mounted, "data") // of the volume claims
		if len(mounted) > 0 {
			t.Errorf("%s mounts what is no volume: %v", name, mounted)
		}
	}
}

func checkContainer(t *testing.T, pod string, c *corev1.Container) {
	t.Helper()
	s := c.SecurityContext
	if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem ||
		s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []corev1.Capability{"ALL"}) || len(s.Capabilities.Add) > 0 {
		t.Errorf("%s/%s: security context %+v", pod, c.Name, s)
	}
	if c.Resources.Limits.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
		t.Errorf("%s/%s has no bounds", pod, c.Name)
	}
	for _, e := range c.Env {
		if strings.Contains(strings.ToLower(e.Name), "password") || strings.Contains(e.Name, "TOKEN") {
			t.Errorf("%s/%s: the secret %s is in the environment; mount it", pod, c.Name, e.Name)
		}
	}
}

// TestProbesAndPorts: every probe and every service names a port that is there.
func TestProbesAndPorts(t *testing.T) {
	templates := pods(t)
	for name, template := range templates {
		for _, c := range template.Spec.Containers {
			if name == "example-app" {
				continue // a stand-in for any program
			}
			for what, probe := range map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe} {
				if probe == nil || probe.HTTPGet == nil || !hasPort(c, probe.HTTPGet.Port.StrVal) {
					t.Errorf("%s: %s probe %+v", name, what, probe)
				}
			}
		}
	}
	for _, list := range objects(t) {
		for _, o := range list {
			s, ok := o.(*corev1.Service)
			if !ok {
				continue
			}
			found := 0
			for _, template := range templates {
				if !matches(s.Spec.Selector, template.Labels) {
					continue
				}
				found++
				for _, p := range s.Spec.Ports {
					if !hasPort(template.Spec.Containers[0], p.TargetPort.StrVal) {
						t.Errorf("service %s: no port %s", s.Name, p.TargetPort.StrVal)
					}
				}
			}
			if found != 1 {
				t.Errorf("service %s selects %d kinds of pods", s.Name, found)
			}
		}
	}
}

func hasPort(c corev1.Container, name string) bool {
	return slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.Name == name })
}

// TestNetwork: there is a policy that forbids everything, and one that lets
// each kind of pod do its work.
func TestNetwork(t *testing.T) {
	closed, open := false, map[string]bool{}
	for _, o := range objects(t)["network.yaml"] {
		p := o.(*networkingv1.NetworkPolicy)
		if len(p.Spec.PodSelector.MatchLabels) == 0 && len(p.Spec.Ingress)+len(p.Spec.Egress) == 0 && len(p.Spec.PolicyTypes) == 2 {
			closed = true
		}
		for _, rule := range p.Spec.Ingress {
			if len(rule.From) == 0 || len(rule.Ports) == 0 {
				t.Errorf("%s lets everybody in", p.Name)
			}
		}
		for _, rule := range p.Spec.Egress {
			if len(rule.To) == 0 || len(rule.Ports) == 0 {
				t.Errorf("%s lets everything out", p.Name)
			}
		}
		open[p.Spec.PodSelector.MatchLabels["app"]] = true
	}
	if !closed || !open["nats"] || !open["shadow"] {
		t.Errorf("nothing is forbidden (%v), or not all that is needed allowed: %v", !closed, open)
	}
}

// TestKustomization: every file that it names is there, and every manifest but
// the example is named.
func TestKustomization(t *testing.T) {
	b, err := os.ReadFile(manifests + "/kustomization.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		Resources          []string
		ConfigMapGenerator []struct {
			Name  string
			Files []string
		}
	}
	if err := sigsyaml.Unmarshal(b, &k); err != nil {
		t.Fatal(err)
	}
	named := slices.Clone(k.Resources)
	for _, g := range k.ConfigMapGenerator {
		named = append(named, g.Files...)
	}
	for _, file := range named {
		if _, err := os.Stat(filepath.Join(manifests, file)); err != nil {
			t.Error(err)
		}
	}
	files, _ := filepath.Glob(manifests + "/*.yaml")
	for _, file := range files {
		base := filepath.Base(file)
		if base != "kustomization.yaml" && base != "example-app.yaml" && !slices.Contains(k.Resources, base) {
			t.Errorf("%s is applied by nobody", base)
		}
	}
}

// TestContainerfile: each line is an instruction with valid flags, the images
// run as a user of their own, and nothing comes in unnamed.
func TestContainerfile(t *testing.T) {
	b, err := os.ReadFile("../container/Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	result, err := parser.Parse(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(result.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, stage := range stages {
		names[stage.Name] = true
		user := ""
		for _, c := range stage.Commands {
			switch c := c.(type) {
			case *instructions.UserCommand:
				user = c.User
			case *instructions.CopyCommand:
				if c.From != "" && !names[c.From] {
					t.Errorf("%s copies from %s, which is no stage before it", stage.Name, c.From)
				}
			case *instructions.AddCommand:
				t.Errorf("%s: ADD fetches and unpacks; use COPY", stage.Name)
			}
		}
		if stage.Name != "build" && user != "65532:65532" {
			t.Errorf("%s runs as %q", stage.Name, user)
		}
		if strings.HasSuffix(stage.BaseName, ":latest") || !strings.ContainsAny(stage.BaseName, ":$") {
			t.Errorf("%s is made from %s, which may be anything", stage.Name, stage.BaseName)
		}
	}
	for _, want := range []string{"build", "agent", "shadow"} {
		if !names[want] {
			t.Errorf("no stage %s", want)
		}
	}
}
