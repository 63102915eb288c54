package label

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFromEnvironment(t *testing.T) {
	long := strings.Repeat("x", MaxValue+1)
	for _, c := range []struct {
		name string
		env  map[string]string
		want Labels
		says string // part of the problem
		left string
	}{
		{"nothing", nil, Labels{}, "", ""},
		{"the name alone", map[string]string{VarService: "shop"}, Labels{Service: "shop"}, "", ""},
		{"all of OpenTelemetry", map[string]string{VarAttributes: "service.name=shop,service.version=1.2, deployment.environment.name = prod ,service.instance.id=i-1,service.namespace=web,"},
			Labels{"shop", "1.2", "prod", "i-1", map[string]string{"service.namespace": "web"}}, "", ""},
		{"the name before the attribute", map[string]string{VarService: "a", VarAttributes: "service.name=b"}, Labels{Service: "a"}, "", ""},
		{"the old name of the environment", map[string]string{VarAttributes: "deployment.environment=old"}, Labels{Env: "old"}, "", ""},
		{"the new one before it", map[string]string{VarAttributes: "deployment.environment.name=new,deployment.environment=old"}, Labels{Env: "new"}, "", ""},
		{"percent-encoded", map[string]string{VarAttributes: "service.name=a%2Cb%3D%C3%BC+c,te%61m=x%20y"}, Labels{Service: "a,b=ü+c", Free: map[string]string{"team": "x y"}}, "", ""},
		{"an equals sign in a value", map[string]string{VarAttributes: "service.name=a=b"}, Labels{Service: "a=b"}, "", ""},
		{"a mistake voids the list", map[string]string{VarService: "s", VarAttributes: "service.version=1,team=%zz"}, Labels{Service: "s"}, `"team=%zz" has a wrong percent-encoding`, ""},
		{"no pair", map[string]string{VarAttributes: "service.name"}, Labels{}, `"service.name" is no KEY=VALUE`, ""},
		{"a hostile name", map[string]string{VarService: "a\x1b[2J"}, Labels{}, "cannot be printed", ""},
		{"decoded to a line end", map[string]string{VarAttributes: "service.name=a%0Ab,team=x"}, Labels{Free: map[string]string{"team": "x"}}, "", "service.name"},
		{"out of bounds", map[string]string{VarAttributes: "Team=x,service.name=" + long + ",env=" + long + ",a=1"}, Labels{Free: map[string]string{"a": "1"}}, "", "Team service.name env"},
		{"Kubernetes", map[string]string{VarPod: "web-7", VarNamespace: "shop", VarNode: "n1"},
			Labels{Instance: "web-7", Free: map[string]string{"k8s.pod.name": "web-7", "k8s.namespace.name": "shop", "k8s.node.name": "n1"}}, "", ""},
		{"OpenTelemetry before Kubernetes", map[string]string{VarPod: "web-7", VarNode: "n1", VarAttributes: "service.instance.id=i,k8s.node.name=n2"},
			Labels{Instance: "i", Free: map[string]string{"k8s.pod.name": "web-7", "k8s.node.name": "n2"}}, "", ""},
		{"a hostile pod", map[string]string{VarPod: "\xff"}, Labels{}, "POD_NAME is not valid UTF-8", ""},
	} {
		got, problems, left := FromEnvironment(func(k string) string { return c.env[k] })
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if text := strings.Join(problems, "; "); (text == "") != (c.says == "") || !strings.Contains(text, c.says) {
			t.Errorf("%s: says %q, want %q", c.name, text, c.says)
		}
		if strings.Join(left, " ") != c.left {
			t.Errorf("%s: left out %q, want %q", c.name, left, c.left)
		}
	}
}

func TestBounds(t *testing.T) {
	var l Labels
	for i := range MaxFree {
		if problem := l.Add(fmt.Sprint("k", i), "v"); problem != "" {
			t.Fatal(problem)
		}
	}
	if l.Add("more", "v") == "" || l.Add("k1", "w") != "" || len(l.Free) != MaxFree || l.Free["k1"] != "w" {
		t.Errorf("%v", l)
	}
	for _, key := range []string{"", "A", "1a", "a b", "a:b", "ä", strings.Repeat("a", MaxKey+1)} {
		if CheckKey(key) == "" {
			t.Errorf("%q is a key", key)
		}
	}
	for _, value := range []string{"", "a\nb", "\u202e", "\xff", strings.Repeat("x", MaxValue+1)} {
		if CheckValue(value) == "" {
			t.Errorf("%q is a value", value)
		}
	}
	if CheckKey("k8s.pod-name_1"+strings.Repeat("a", MaxKey-14)) != "" || CheckValue(strings.Repeat("x", MaxValue)) != "" || CheckValue("ünï côde / : =") != "" {
		t.Error("good ones are refused")
	}
}

func TestMerge(t *testing.T) {
	a := Labels{Service: "a", Free: map[string]string{"x": "1"}}
	b := Labels{Service: "b", Env: "prod", Free: map[string]string{"x": "2", "y": "3"}}
	want := Labels{Service: "a", Env: "prod", Free: map[string]string{"x": "1", "y": "3"}}
	if got := a.Or(b); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if len(a.Free) != 1 || len(b.Free) != 2 {
		t.Error("merging changed its parts")
	}
	if got := want.String(); got != "service=a env=prod x=1 y=3" {
		t.Errorf("%q", got)
	}
	if want.FreeJSON() != `{"x":"1","y":"3"}` || (&Labels{}).FreeJSON() != "" || !(Labels{}).IsZero() || want.IsZero() {
		t.Errorf("%q", want.FreeJSON())
	}
	if got := (Labels{Service: "\x1b", Version: "1", Free: map[string]string{"A": "x", "b": "y"}}).Valid(); !reflect.DeepEqual(got, Labels{Version: "1", Free: map[string]string{"b": "y"}}) {
		t.Errorf("%+v", got)
	}
}

func TestInstanceOf(t *testing.T) {
	for host, want := range map[string]string{"web": "web-42", "a\x1bb\xff": "a?b?-42", "": "-42"} {
		if got := InstanceOf(host, 42); got != want {
			t.Errorf("%q: %q", host, got)
		}
	}
	if got := InstanceOf(strings.Repeat("ü", 300), 42); CheckValue(got) != "" || !strings.HasSuffix(got, "ü-42") || len(got) < MaxValue-1 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func FuzzParseAttributes(f *testing.F) {
	for _, s := range []string{"", "a=b", "service.name=a%20b,c=d", "%=x", "a=%", ",,=", "a=b=c", "service.name=%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, left, err := ParseAttributes(s)
		if err != nil && (!l.IsZero() || strings.ContainsAny(err.Error(), "\n\x1b")) {
			t.Fatalf("%q: %+v, %q", s, l, err)
		}
		if again := l.Valid(); !reflect.DeepEqual(again, l) {
			t.Fatalf("%q: %+v is out of bounds", s, l)
		}
		for _, k := range left {
			if !utf8.ValidString(k) || strings.ContainsAny(k, "\n\x1b") {
				t.Fatalf("%q: left out %q", s, k)
			}
		}
	})
}
