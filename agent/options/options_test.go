package options

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"stackagent/internal/busauth"
	"stackagent/internal/label"
	"stackagent/internal/perfevent"
	"stackagent/internal/settings"
	"stackagent/internal/wire"
)

func TestParse(t *testing.T) {
	cases := []struct {
		in   string
		want func(o *Options)
	}{
		{"", func(*Options) {}},
		{",,", func(*Options) {}},
		{"bus=nats://h:1,session=a-b.c", func(o *Options) { o.Bus, o.Session = "nats://h:1", "a-b.c" }},
		{"bus=nats://tok@h:1;tls://i:2", func(o *Options) { o.Bus = "nats://tok@h:1,tls://i:2" }},
		{"metric=wall", func(o *Options) { o.Metrics = []string{"wall"} }},
		{"metric=cpu+bytecodes+cpu", func(o *Options) {
			o.Metrics = []string{"cpu", "bytecodes"}
		}},
		{"metric=instructions", func(o *Options) {
			o.Metrics, o.Events = []string{"instructions"}, []perfevent.Event{{Name: "instructions", Config: 1, UserOnly: true}}
		}},
		{"task=com.acme.Job#process(Lcom/acme/Ctx;[I)V,task=a.B#c,strict=true", func(o *Options) {
			o.Tasks, o.Strict = []string{"com.acme.Job#process(Lcom/acme/Ctx;[I)V", "a.B#c"}, true
		}},
		{"include=a.*;b.C,include=d.*,exclude=a.x.*", func(o *Options) {
			o.Include, o.Exclude = []string{"a.*", "b.C", "d.*"}, []string{"a.x.*"}
		}},
		{`creds=/a\,b\\c,tlsca=/x\y`, func(o *Options) { o.Creds, o.TLSCA = `/a,b\c`, `/x\y` }},
		{"tlscert=/c,tlskey=/k,tokenfile=/t", func(o *Options) { o.TLSCert, o.TLSKey, o.TokenFile = "/c", "/k", "/t" }},
		{"user=u,passwordfile=/p", func(o *Options) { o.User, o.PasswordFile = "u", "/p" }},
		{"nkey=/n", func(o *Options) { o.NKey = "/n" }},
		{"contexts=all", func(o *Options) { o.Contexts = 1 }},
		{"contexts=250", func(o *Options) { o.Contexts = 250 }},
		{"contexts=0", func(*Options) {}},
		{"service=shop\\, web,version=1.2,env=prod,instance=i:1,label=team:a:b,label=tier=2", func(o *Options) {
			o.Labels = label.Labels{Service: "shop, web", Version: "1.2", Env: "prod", Instance: "i:1", Free: map[string]string{"team": "a:b", "tier": "2"}}
		}},
		{"token=a=b", func(o *Options) { o.Token = "a=b" }},
		{"detail=summary,overflow=drop,children=true,strict=false", func(o *Options) {
			o.Detail, o.Overflow, o.Children = settings.DetailSummary, settings.OverflowDrop, true
		}},
	}
	for _, c := range cases {
		want := Default()
		c.want(&want)
		got, err := Parse(c.in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: error %v\ngot  %+v\nwant %+v", c.in, err, got, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	cases := []struct {
		in   string
		want []string // parts of the message
	}{
		{"metrics=cpu", []string{`metrics=cpu`, "not an option (did you mean metric?)", "bus, busowner, children"}},
		{"sesion=a", []string{"did you mean session?"}},
		{"zzz", []string{`option "zzz": not an option; options are`}},
		{"=x", []string{`not an option`}},
		{"bus", []string{`option "bus": has no value; write bus=VALUE`}},
		{"bus=", []string{`has no value`}},
		{"bus=http://h:1", []string{"want nats://HOST:PORT"}},
		{"bus=nats://h:1;x", []string{"want nats://HOST:PORT"}},
		{`bus=nats://h:1\,nats://i:1`, []string{"want nats://HOST:PORT"}},
		{"session=../x", []string{"session=../x", "A-Z a-z 0-9"}},
		{"session=a,session=b", []string{"session=b: is given twice"}},
		{"metric=cpu+wal", []string{"metric=cpu+wal", "alloc, bytecodes, cpu", "did you mean wall?"}},
		{"metric=", []string{"no value"}},
		{"metric=cpu+", []string{"want one or more of"}},
		{"task=com.acme.Job", []string{"CLASS#METHOD"}},
		{"task=#run", []string{"CLASS#METHOD"}},
		{"task=a.B#(I)V", []string{"CLASS#METHOD"}},
		{"exclude=a;;b", []string{"globs"}},
		{"include=a/b", []string{"globs"}},
		{"detail=sumary", []string{"want auto, timed, all, summary (did you mean summary?)"}},
		{"overflow=wait", []string{"want block, drop"}},
		{"contexts=-1", []string{"contexts=-1: want all, 0 (none), or N"}},
		{"contexts=1000000001", []string{"at most 1000000000"}},
		{"contexts=al", []string{"did you mean all?"}},
		{"service=" + strings.Repeat("x", 129), []string{"is 129 bytes long, at most 128 are allowed"}},
		{"env=a\x1bb", []string{"option env=a?b: holds characters that cannot be printed"}},
		{"label=team", []string{"option label=team: want KEY:VALUE"}},
		{"label=Team:x", []string{"want a key that begins with a-z"}},
		{"label=team:", []string{"the value is empty"}},
		{strings.Repeat("label=a:b,", 3) + "service=a,service=b", []string{"service=b: is given twice"}},
		{"strict=yes", []string{"want true or false"}},
		{"tlscert=/c", []string{"go together"}},
		{"token=a,tokenfile=b", []string{"exclude each other"}},
		{"creds=a,nkey=b", []string{"creds and nkey exclude each other"}},
		{"user=a,token=b", []string{"exclude each other"}},
		{"passwordfile=a", []string{"goes together with user"}},
		{"detail=x,overflow=y", []string{"detail=x", "; option overflow=y"}},
		{strings.Repeat("x", 70000), []string{"at most 65536"}},
	}
	for _, c := range cases {
		_, err := Parse(c.in)
		var oe *Error
		if !errors.As(err, &oe) {
			t.Errorf("%.50q: error %v is no *Error", c.in, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%.50q: %q does not say %q", c.in, err, part)
			}
		}
	}
}

func TestStrictIsFoundBesideErrors(t *testing.T) {
	for _, in := range []string{"strict=true,oops=1", "oops=1,strict=true", "bus=,detail=x,strict=true"} {
		o, err := Parse(in)
		if err == nil || !o.Strict {
			t.Errorf("%q: strict %v, error %v", in, o.Strict, err)
		}
	}
	if o, err := Parse("strict=maybe"); err == nil || o.Strict {
		t.Errorf("strict=maybe: strict %v, error %v", o.Strict, err)
	}
}

func TestErrorsKeepSecrets(t *testing.T) {
	for _, in := range []string{"bus=http://geheim@h:1", "token=geheim,token=geheim"} {
		if _, err := Parse(in); err == nil || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestSessionName(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.FixedZone("x", 3600))
	cases := []struct{ session, host, want string }{
		{"mine", "h", "mine"},
		{"", "box1", "box1-42-20260102T020405.678Z"},
		{"", "a.b_c d/é", "a-b_c-d----42-20260102T020405.678Z"},
		{"", "", "host-42-20260102T020405.678Z"},
		{"", "..", "---42-20260102T020405.678Z"},
	}
	for _, c := range cases {
		o := Options{Session: c.session}
		if got := o.SessionName(c.host, 42, start); got != c.want || wire.ValidSession(got) != nil {
			t.Errorf("%q on %q: %q, want %q", c.session, c.host, got, c.want)
		}
	}
	var o Options
	if got := o.SessionName(strings.Repeat("x", 300), 1<<30, start); len(got) != wire.MaxSession || wire.ValidSession(got) != nil {
		t.Errorf("long host: %d bytes %q", len(got), got)
	}
}

func TestAuth(t *testing.T) {
	env := func(k string) string { return map[string]string{TokenVariable: "fromenv"}[k] }
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	type auth = busauth.Auth
	cases := []struct {
		o    Options
		want auth
		fail string
	}{
		{Options{Bus: DefaultBus}, auth{Token: "fromenv"}, ""},
		{Options{Bus: "nats://u:p@h:1"}, auth{}, ""},
		{Options{Token: "given"}, auth{Token: "given"}, ""},
		{Options{Creds: "/c"}, auth{CredsFile: "/c"}, ""},
		{Options{NKey: "/n", TLSCA: "/a"}, auth{NKeyFile: "/n", TLSCA: "/a"}, ""},
		{Options{User: "u", PasswordFile: write("p", "geheim\n")}, auth{User: "u", Password: "geheim"}, ""},
		{Options{User: "u"}, auth{}, PasswordVariable},
		{Options{TokenFile: write("good", "filed\n")}, auth{Token: "filed"}, ""},
		{Options{TokenFile: write("empty", "\n")}, auth{}, "empty"},
		{Options{TokenFile: write("lines", "geheim\nb\n")}, auth{}, "lines"},
		{Options{TokenFile: write("long", strings.Repeat("x", 1<<20))}, auth{}, "long"},
		{Options{TokenFile: filepath.Join(dir, "none")}, auth{}, "none"},
	}
	for _, c := range cases {
		got, err := c.o.Auth(env)
		got.SecretFile = "" // its owner is checked when the connection is made
		if c.fail == "" && (got != c.want || err != nil) {
			t.Errorf("%+v: %+v, %v", c.o, got, err)
		}
		if c.fail != "" && (err == nil || !strings.Contains(err.Error(), c.fail) || strings.Contains(err.Error(), "geheim")) {
			t.Errorf("%+v: error %v, want one about %q", c.o, err, c.fail)
		}
	}
}

func TestExposed(t *testing.T) {
	for in, want := range map[string]bool{
		"": false, "tokenfile=/t": false, "bus=nats://h:1": false, "creds=/c": false,
		"token=geheim": true, "bus=nats://u:geheim@h:1": true, "bus=nats://h:1;nats://geheim@h:2": true,
	} {
		o, err := Parse(in)
		if text := o.Exposed(); err != nil || (text != "") != want || strings.Contains(text, "geheim") {
			t.Errorf("%q: %q, %v", in, text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "bus=nats://h:1,session=a", `creds=a\,b`, "metric=wall+cpu,strict=true,task=a#b(I)V", "exclude=a;b,zzz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		o, err := Parse(s)
		if err != nil && strings.ContainsAny(err.Error(), "\n\r\x00") {
			t.Fatalf("%q: error of more than a line: %q", s, err)
		}
		if o.Session != "" && wire.ValidSession(o.Session) != nil {
			t.Fatalf("%q: session %q", s, o.Session)
		}
		if o.Bus == "" || o.Detail == "" || o.Overflow == "" {
			t.Fatalf("%q: no default left in %+v", s, o)
		}
	})
}

// Default takes the defaults as they are declared, so each has to be a value that a user could give.
func TestDefaults(t *testing.T) {
	for _, o := range All() {
		if o.Default != "" && o.Check(o.Default) != nil {
			t.Error(o.Check(o.Default))
		}
	}
}

// What changes classes is in the name of their plans, and nothing else: each option there would make new plans.
func TestForPlan(t *testing.T) {
	got := ForPlan(`detail=all,task=a.B#c(I\,J)V,construction=true,bus=nats://h,exclude=x.*`)
	if want := `task=a.B#c(I\,J)V,construction=true,exclude=x.*`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
