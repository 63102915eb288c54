package label

import (
	"fmt"
	"net/url"
	"strings"

	"stackagent/internal/text"
)

// Environment variables from which labels are read, as OpenTelemetry and the recipes for Kubernetes set them.
const (
	VarService    = "OTEL_SERVICE_NAME"
	VarAttributes = "OTEL_RESOURCE_ATTRIBUTES"
	VarPod        = "POD_NAME"
	VarNamespace  = "POD_NAMESPACE"
	VarNode       = "NODE_NAME"
)

// Variables are all of them.
var Variables = []string{VarService, VarAttributes, VarPod, VarNamespace, VarNode}

// maxVariable bounds what is read of a variable, bytes.
const maxVariable = 1 << 16

// oldEnvironment is the attribute's name of before, which many programs still set.
const oldEnvironment = "deployment.environment"

// FromEnvironment gives the labels that the environment sets: those of OpenTelemetry, then those of Kubernetes' downward
// API. problems, a line each, say what is wrong: such a label is not set. left are attributes out of bounds, which are
// addressed to other programs too.
func FromEnvironment(getenv func(string) string) (l Labels, problems, left []string) {
	if v := getenv(VarService); v != "" {
		if problem := CheckValue(v); problem != "" {
			problems = append(problems, VarService+" "+problem)
		} else {
			l.Service = v
		}
	}
	attributes, left, err := ParseAttributes(getenv(VarAttributes))
	if err != nil {
		problems = append(problems, fmt.Sprintf("%s is ignored: %v", VarAttributes, err))
	}
	l = l.Or(attributes)
	var pod Labels
	for _, v := range []struct{ variable, key string }{
		{VarPod, "k8s.pod.name"}, {VarNamespace, "k8s.namespace.name"}, {VarNode, "k8s.node.name"},
	} {
		switch value := getenv(v.variable); {
		case value == "":
		case CheckValue(value) != "":
			problems = append(problems, v.variable+" "+CheckValue(value))
		default:
			pod.Add(v.key, value)
			if v.variable == VarPod {
				pod.Instance = value
			}
		}
	}
	return l.Or(pod), problems, left
}

// ParseAttributes reads a list as OTEL_RESOURCE_ATTRIBUTES holds it: KEY=VALUE,KEY=VALUE with percent-encoding. As
// OpenTelemetry asks, one mistake makes all of it void. left are the attributes that are out of a label's bounds.
func ParseAttributes(s string) (l Labels, left []string, err error) {
	if len(s) > maxVariable {
		return Labels{}, nil, fmt.Errorf("it is %d bytes long, at most %d are allowed", len(s), maxVariable)
	}
	old := ""
	for _, word := range strings.Split(s, ",") {
		if strings.TrimSpace(word) == "" {
			continue
		}
		key, value, err := attribute(word)
		if err != nil {
			return Labels{}, nil, err
		}
		switch {
		case value == "":
		case key == oldEnvironment && CheckValue(value) == "":
			old = value
		case !l.set(key, value):
			left = append(left, text.Cut(text.Clean(key, '?'), MaxKey))
		}
	}
	if l.Env == "" {
		l.Env = old
	}
	return l, left, nil
}

// attribute decodes KEY=VALUE.
func attribute(word string) (key, value string, err error) {
	key, value, ok := strings.Cut(word, "=")
	if !ok || strings.TrimSpace(key) == "" {
		return "", "", fmt.Errorf("%q is no KEY=VALUE", text.Cut(text.Clean(word, '?'), MaxValue))
	}
	if key, err = url.PathUnescape(strings.TrimSpace(key)); err == nil {
		value, err = url.PathUnescape(strings.TrimSpace(value))
	}
	if err != nil {
		return "", "", fmt.Errorf("%q has a wrong percent-encoding", text.Cut(text.Clean(word, '?'), MaxValue))
	}
	return key, value, nil
}

// SetNamed sets the label that Pairs calls so, and reports whether it fits.
func (l *Labels) SetNamed(name, value string) bool {
	for _, f := range Fields {
		if f.Name == name {
			if CheckValue(value) != "" {
				return false
			}
			*f.Of(l) = value
			return true
		}
	}
	return l.Add(name, value) == ""
}

// set sets the label of an attribute and reports whether it fits.
func (l *Labels) set(key, value string) bool {
	for _, f := range Fields {
		if f.OTel == key {
			if CheckValue(value) != "" {
				return false
			}
			*f.Of(l) = value
			return true
		}
	}
	return l.Add(key, value) == ""
}

// InstanceOf is the instance of a JVM that was given none: the name of its host, cut if need be, and its process id.
func InstanceOf(host string, pid int) string {
	tail := fmt.Sprintf("-%d", pid)
	host = text.Clean(strings.ToValidUTF8(host, "?"), '?')
	for cut := []rune(host); len(host)+len(tail) > MaxValue; cut = cut[:len(cut)-1] {
		host = string(cut[:len(cut)-1])
	}
	return host + tail
}
