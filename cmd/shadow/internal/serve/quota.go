package serve

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/label"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/collect/ingest"
)

// quotaFlags bound what a service takes of the shadow.
type quotaFlags struct {
	list   []string
	quotas []ingest.Quota // after check
}

func (f *quotaFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.list, "quota", nil, "SERVICE:open=N,new=N,mib=N: sessions open, opened in a second, and MiB a second of a service; "+
		"what is beyond waits on the bus. SERVICE * is each service without a quota of its own (may be repeated)")
}

func (f *quotaFlags) check() error {
	seen := map[string]bool{}
	f.quotas = nil
	for _, s := range f.list {
		q, problem := parseQuota(s)
		if problem == "" && seen[q.Service] {
			problem = "the service has a quota already; put all its limits into one --quota"
		}
		if problem != "" {
			return console.Usagef("--quota %s: %s; want SERVICE:open=N,new=N,mib=N", s, problem)
		}
		seen[q.Service] = true
		f.quotas = append(f.quotas, q)
	}
	return nil
}

// maxQuota bounds the numbers of a quota.
const maxQuota = 1 << 30

func parseQuota(s string) (q ingest.Quota, problem string) {
	i := strings.LastIndexByte(s, ':')
	if i < 1 {
		return q, "no service"
	}
	q.Service = s[:i]
	if problem := label.CheckValue(q.Service); problem != "" {
		return q, "the service " + problem
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(s[i+1:], ",") {
		key, value, _ := strings.Cut(part, "=")
		if seen[key] {
			return q, key + " is given twice"
		}
		seen[key] = true
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v > 0 && v <= maxQuota) {
			return q, key + "=" + value + " is no number above 0"
		}
		switch key {
		case "open":
			if q.Open = int(v); float64(q.Open) != v {
				return q, "open=" + value + " is no whole number"
			}
		case "new":
			q.New = v
		case "mib":
			q.Bytes = max(1, int64(v*(1<<20)))
		default:
			return q, key + " is unknown"
		}
	}
	return q, ""
}

// QuotaReached implements ingest.QuotaWatch. The name of a service comes from outside.
func (s *serveLive) QuotaReached(service string, waiting int) {
	if s.env.Log != nil { // ingest logs it
		return
	}
	name := table.Clean(service)
	if name == "" {
		name = "JVMs without a service"
	}
	if waiting == 0 {
		s.env.Note("%s: no session waits because of its quota any more", name)
		return
	}
	s.env.Note("%s: %s because of its quota (--quota); what they send waits on the bus", name, text.PluralExact(waiting, "session waits", "sessions wait"))
}
