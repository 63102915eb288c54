package summary_test

import (
	"slices"
	"testing"

	"stackagent/shadow/analysis/summary"
)

// TestHiddenWork: a listing whose work is mostly in a loop or a server's task ends with the --task that shows it, unless
// the session was recorded with that already.
func TestHiddenWork(t *testing.T) {
	const loop = "com.acme.Loop"
	const call = "com.acme.Apis#handle(Lcom/acme/Request;)V"
	const tomcat = "org.apache.tomcat.util.net.NioEndpoint$"
	for name, c := range map[string]struct {
		class, call string
		wall        int64 // of one execution; another class works for 40 ms
		used, want  []string
	}{
		"a loop":                           {loop, call, 500, nil, []string{call}},
		"recorded with it":                 {loop, call, 500, []string{call}, nil},
		"recorded without its descriptor":  {loop, call, 500, []string{"com.acme.Apis#handle"}, nil},
		"recorded with another":            {loop, call, 500, []string{"com.acme.Apis#other()V"}, []string{call}},
		"a short task":                     {loop, call, 60, nil, nil},
		"less than half":                   {loop, call, 30, nil, nil},
		"a loop whose calls are not known": {loop, "", 500, nil, nil},
		"a preset's class":                 {tomcat + "SocketProcessor", "", 60, nil, []string{"@tomcat"}},
		"recorded with a preset":           {tomcat + "SocketProcessor", "", 60, []string{"@tomcat"}, nil},
		"recorded with the same":           {tomcat + "SocketProcessor", "", 60, []string{"@servlet"}, nil},
		"a class that calls no servlet":    {tomcat + "Poller", "", 500, nil, nil},
		"a loop that feeds a preset's":     {tomcat + "Poller", "org.apache.tomcat.util.net.NioEndpoint#processSocket(Ljava/lang/Object;)Z", 500, nil, nil},
	} {
		b := newSessionBuilder(t, []string{"", c.class, "com.acme.Job"})
		b.part.Classes[0].LoopCall, b.tasks = c.call, c.used
		b.exec(1, 0, 1, 1, c.wall, c.wall, -1)
		b.exec(2, 0, 2, 2, 40, 40, -1)
		sum, err := summary.Build(b.open(true), summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if sum.Hidden != nil {
			got = sum.Hidden.Tasks
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: --task %q, want %q", name, got, c.want)
		}
	}
}
