package serve

import (
	"strings"
	"testing"

	"stackagent/shadow/collect/ingest"
)

func TestParseQuota(t *testing.T) {
	for s, want := range map[string]ingest.Quota{
		"checkout:open=500,new=2.5,mib=1": {Service: "checkout", Open: 500, New: 2.5, Bytes: 1 << 20},
		"*:mib=0.5":                       {Service: ingest.AnyService, Bytes: 512 << 10},
		"a:b:open=1":                      {Service: "a:b", Open: 1},
	} {
		if got, problem := parseQuota(s); problem != "" || got != want {
			t.Errorf("%s: %+v %s, want %+v", s, got, problem, want)
		}
	}
	for _, s := range []string{"", "a", ":open=1", "a:", "a:open", "a:open=0", "a:open=-1", "a:open=1.5", "a:new=NaN", "a:mib=1e99", "a:rows=3", "a\x1b:open=1", "a:open=1,open=2", "a:open=1,open=1"} {
		if got, problem := parseQuota(s); problem == "" {
			t.Errorf("%q is taken: %+v", s, got)
		}
	}
	for _, list := range [][]string{{"a:open=1", "a:new=1"}, {"*:open=1", "a:open=1", "*:open=2"}} {
		f := quotaFlags{list: list}
		if err := f.check(); err == nil || !strings.Contains(err.Error(), "one --quota") {
			t.Errorf("a service has two quotas: %v", err)
		}
	}
}
