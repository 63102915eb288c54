package live

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// WriteMetrics writes the same for Prometheus, of the JVMs of services that sees takes; nil: of all, and how many are
// not listed.
func (l *Live) WriteMetrics(w *bytes.Buffer, sees func(service string) bool) {
	var all []*Family
	at := map[string]int{}
	more := l.Metrics(func(j JVMMetrics) {
		if sees != nil && !sees(j.Labels.Service) {
			return
		}
		for _, f := range j.Families {
			i, ok := at[f.Name]
			if !ok {
				at[f.Name], all = len(all), append(all, f)
				continue
			}
			all[i].Points = append(all[i].Points, f.Points...)
		}
	})
	if sees == nil {
		all = append(all, NotListed(more))
	}
	for _, f := range all {
		f.Write(w)
	}
}

// Write writes the family for Prometheus.
func (f *Family) Write(w *bytes.Buffer) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", f.Name, f.Help, f.Name, f.Kind)
	for i := range f.Points {
		p := &f.Points[i]
		labels := escaped(p.Labels)
		if f.Kind == Counter || f.Kind == Gauge {
			writeSample(w, f.Name, labels, p.Value)
			continue
		}
		below := uint64(0)
		for i, n := range p.Buckets {
			below += n
			le := "+Inf"
			if i < len(bounds) {
				le = strconv.FormatFloat(float64(bounds[i])/second, 'g', -1, 64)
			}
			writeSample(w, f.Name+"_bucket", append(slices.Clip(labels), `le="`+le+`"`), float64(below))
		}
		writeSample(w, f.Name+"_sum", labels, p.Sum)
		writeSample(w, f.Name+"_count", labels, float64(p.Count))
	}
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func escaped(labels []Attribute) []string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = l.Name + `="` + labelEscapes.Replace(l.Value) + `"`
	}
	return list
}

func writeSample(w *bytes.Buffer, name string, labels []string, v float64) {
	w.WriteString(name)
	if len(labels) > 0 {
		w.WriteString("{" + strings.Join(labels, ",") + "}")
	}
	w.WriteString(" " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}
