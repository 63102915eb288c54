package options

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackagent/internal/busauth"
	"stackagent/internal/label"
	"stackagent/internal/monitorspec"
	"stackagent/internal/perfevent"
	"stackagent/internal/taskdef"
	"stackagent/internal/text"
	"stackagent/internal/wire"
)

// metrics are the words of metric= beside the names of performance events.
var metrics = []string{"alloc", "bytecodes", "cpu", "wall"}

// MetricNames are the words of metric= beside the names of performance events.
func MetricNames() []string { return slices.Clone(metrics) }

// setMetric takes names joined with '+'.
func setMetric(o *Options, value string) string {
	var list []string
	for _, word := range strings.Split(value, "+") {
		known := slices.Contains(metrics, word)
		event, err := perfevent.Parse(word)
		switch {
		case !known && err != nil:
			return fmt.Sprintf("%q is not a metric; want one or more of ", word) + strings.Join(metrics, ", ") +
				" or a performance event (instructions, LLC-load-misses, r01c2; perf list has all), joined with '+'" +
				text.DidYouMean(word, append(slices.Clone(metrics), perfevent.Names()...))
		case !known && !slices.ContainsFunc(o.Events, func(e perfevent.Event) bool { return e.Name == word }):
			o.Events = append(o.Events, event)
			list = append(list, word)
		case !slices.Contains(list, word):
			list = append(list, word)
		}
	}
	o.Metrics = list
	if n := len(o.Extras()); n > wire.MaxExtra {
		return fmt.Sprintf("names %d metrics beside wall and cpu, at most %d are possible", n, wire.MaxExtra)
	}
	return ""
}

// setTask takes CLASS#METHOD, with or without a descriptor, or a preset.
func setTask(o *Options, value string) string {
	if problem := taskdef.Check(value); problem != "" {
		return problem
	}
	o.Tasks = append(o.Tasks, value)
	return ""
}

// globs takes globs of class names joined with ';'.
func globs(field func(*Options) *[]string) setter {
	return func(o *Options, value string) string {
		for _, g := range strings.Split(value, ";") {
			if g == "" || strings.ContainsAny(g, " \t\n/") {
				return "want globs of Java class names joined with ';', for example com.acme.*;org.acme.Job"
			}
			*field(o) = append(*field(o), g)
		}
		return ""
	}
}

func str(field func(*Options) *string) setter {
	return func(o *Options, value string) string {
		*field(o) = value
		return ""
	}
}

func boolean(field func(*Options) *bool) setter {
	return func(o *Options, value string) string {
		if value != "true" && value != "false" {
			return "want true or false" + text.DidYouMean(value, []string{"true", "false"})
		}
		*field(o) = value == "true"
		return ""
	}
}

func choice[T ~string](field func(*Options) *T, allowed ...T) setter {
	return func(o *Options, value string) string {
		if !slices.Contains(allowed, T(value)) {
			words := make([]string, len(allowed))
			for i, a := range allowed {
				words[i] = string(a)
			}
			return "want " + strings.Join(words, ", ") + text.DidYouMean(value, words)
		}
		*field(o) = T(value)
		return ""
	}
}

// setBus takes one URL, or several joined with ';' as a comma ends the value.
func setBus(o *Options, value string) string {
	const want = "want nats://HOST:PORT or tls://HOST:PORT (several joined with ';')"
	if strings.Contains(value, ",") || !strings.Contains(value, "://") {
		return want
	}
	for _, one := range strings.Split(value, ";") {
		if _, err := busauth.ParseServers(one); err != nil || !strings.Contains(one, "://") {
			return want // not the error's text: the URL may hold a secret
		}
	}
	o.Bus = strings.ReplaceAll(value, ";", ",")
	return ""
}

// setBusOwner takes a user's id, or "any".
func setBusOwner(o *Options, value string) string {
	if _, err := strconv.ParseUint(value, 10, 32); err != nil && value != busauth.AnyOwner {
		return "want the id of a user, or " + busauth.AnyOwner
	}
	o.BusOwner = value
	return ""
}

func setSession(o *Options, value string) string {
	if err := wire.ValidSession(value); err != nil {
		return err.Error()
	}
	o.Session = value
	return ""
}

// named takes the value of a label.
func named(field func(*label.Labels) *string) setter {
	return func(o *Options, value string) string {
		problem := label.CheckValue(value)
		if problem == "" {
			*field(&o.Labels) = value
		}
		return problem
	}
}

// setLabel takes KEY:VALUE.
func setLabel(o *Options, value string) string {
	key, value, problem := label.ParsePair(value)
	if problem != "" {
		return problem
	}
	return o.Labels.Add(key, value)
}

// maxContexts is the largest N of contexts=N.
const maxContexts = 1_000_000_000

// setContexts takes all, or N for one event in N.
func setContexts(o *Options, value string) string {
	if value == "all" {
		o.Contexts = 1
		return ""
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil || n > maxContexts {
		return "want all, 0 (none), or N to take one in N, at most 1000000000" + text.DidYouMean(value, []string{"all"})
	}
	o.Contexts = uint32(n)
	return ""
}

// WaitOff is the value of wait= for no waits.
const WaitOff = "off"

// setWait takes a time, or off.
func setWait(o *Options, value string) string {
	if value == WaitOff {
		o.Wait = 0
		return ""
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Microsecond || d > time.Hour {
		return "want a time from 1us to 1h, or off" + text.DidYouMean(value, []string{WaitOff})
	}
	o.Wait = d
	return ""
}

// Values of observer= beside a time.
const (
	ObserverAuto = "auto"
	ObserverOff  = "off"
)

// setObserver takes auto, off, or a time.
func setObserver(o *Options, value string) string {
	switch value {
	case ObserverAuto:
		o.Observer = Observer{}
		return ""
	case ObserverOff:
		o.Observer = Observer{Off: true}
		return ""
	}
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond || d > 10*time.Second {
		return "want auto, off, or a time from 1ms to 10s" + text.DidYouMean(value, []string{ObserverAuto, ObserverOff})
	}
	o.Observer = Observer{Wait: d}
	return ""
}

// maxMonitors bounds the monitors that a user asks for.
const maxMonitors = 256

// setMonitor takes a monitor of the program, or the name of a group of them. A repeated one is ignored.
func setMonitor(o *Options, value string) string {
	if value == "" {
		return "names no monitor"
	}
	spec, problem := monitorspec.Parse(value)
	switch {
	case problem != "":
		return problem
	case slices.Contains(o.Monitors, spec):
		return ""
	case len(o.Monitors) == maxMonitors:
		return fmt.Sprintf("at most %d monitors are possible", maxMonitors)
	}
	o.Monitors = append(o.Monitors, spec)
	return ""
}

// setMonitorInterval takes a time.
func setMonitorInterval(o *Options, value string) string {
	d, err := time.ParseDuration(value)
	if err != nil || d < time.Millisecond || d > time.Second {
		return "want a time from 1ms to 1s"
	}
	o.MonitorInterval = d
	return ""
}

// SpoolOff is the value of spool= for no spool file.
const SpoolOff = "off"

// setSpool takes a folder or "off".
func setSpool(o *Options, value string) string {
	if value != SpoolOff && !filepath.IsAbs(value) {
		return "want the path of a folder, from /, or off"
	}
	o.Spool = value
	return ""
}

// PlansOff is the value of plans= that keeps no plans.
const PlansOff = "off"

// setPlans takes a folder or "off".
func setPlans(o *Options, value string) string {
	if value != PlansOff && !filepath.IsAbs(value) {
		return "want the path of a folder, from /, or off"
	}
	o.Plans = value
	return ""
}

// size takes a number of bytes, with K, M or G in binary steps.
func size(field func(*Options) *int64, least, most int64, want string) setter {
	return func(o *Options, value string) string {
		number, shift := value, 0
		for unit, bits := range map[string]int{"K": 10, "M": 20, "G": 30} {
			if n, ok := strings.CutSuffix(strings.ToUpper(value), unit); ok {
				number, shift = n, bits
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > most>>shift || n<<shift < least {
			return want
		}
		*field(o) = n << shift
		return ""
	}
}
