package check

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestChart compares what the Helm chart makes with its default values, in the file STACKAGENT_CHART, with the manifests of
// the kustomization. make consumers renders it.
func TestChart(t *testing.T) {
	file := os.Getenv("STACKAGENT_CHART")
	if file == "" {
		t.Skip("not available: no rendered chart in STACKAGENT_CHART; make consumers has one")
	}
	want := byName(t, objects(t), "namespace.yaml", "example-app.yaml")
	conf, err := os.ReadFile(filepath.Join(manifests, "nats.conf"))
	if err != nil {
		t.Fatal(err)
	}
	got := byName(t, objectsOf(t, file))
	config, ok := got["*v1.ConfigMap nats-config"].(*corev1.ConfigMap)
	if !ok || config.Data["nats.conf"] != string(conf) {
		t.Errorf("the configuration of the bus: %+v", config)
	}
	delete(got, "*v1.ConfigMap nats-config")
	for _, o := range got {
		if s, ok := o.(*appsv1.StatefulSet); ok {
			// The chart has what kustomize adds by itself: the image's version, and a sign of a new configuration.
			s.Spec.Template.Annotations = nil
			if c := &s.Spec.Template.Spec.Containers[0]; c.Image == "stackagent/shadow:latest" {
				c.Image = "stackagent/shadow"
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(got[name], want[name]) {
			t.Errorf("%s: the chart makes\n%+v\nthe kustomization\n%+v", name, got[name], want[name])
		}
	}
	for name := range got {
		if want[name] == nil {
			t.Errorf("%s: only the chart makes it", name)
		}
	}
	if len(want) < 8 {
		t.Errorf("only %d objects compared", len(want))
	}
}

// byName gives objects by type and name, but those of some files.
func byName(t *testing.T, files map[string][]any, but ...string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for file, list := range files {
		if slices.Contains(but, file) {
			continue
		}
		for _, o := range list {
			m, ok := o.(v1.Object)
			if !ok {
				t.Fatalf("%s: %T has no name", file, o)
			}
			all[reflect.TypeOf(o).String()+" "+m.GetName()] = o
		}
	}
	return all
}
