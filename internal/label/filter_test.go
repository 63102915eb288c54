package label

import "testing"

func TestFilter(t *testing.T) {
	shop := Labels{Service: "shop-web", Version: "1.2", Env: "prod", Free: map[string]string{"team": "a"}}
	for _, c := range []struct {
		f    Filter
		want bool
	}{
		{Filter{}, true},
		{Filter{Service: "shop-*"}, true},
		{Filter{Service: "shop"}, false},
		{Filter{Service: "shop-*", Version: "1.*", Env: "prod", Free: []string{"team=a"}}, true},
		{Filter{Service: "shop-*", Env: "test"}, false},
		{Filter{Version: "2*"}, false},
		{Filter{Free: []string{"team=*"}}, true},
		{Filter{Free: []string{"team=b"}}, false},
		{Filter{Free: []string{"tier=*"}}, false},
	} {
		if err := c.f.Check(); err != nil {
			t.Error(err)
		}
		if got := c.f.Matches(&shop); got != c.want {
			t.Errorf("%+v: %v", c.f, got)
		}
	}
	for _, f := range []Filter{{Service: "["}, {Env: "[a"}, {Free: []string{"team"}}, {Free: []string{"Team=a"}}, {Free: []string{"team=["}}} {
		if f.Check() == nil {
			t.Errorf("%+v is a filter", f)
		}
	}
	if !Glob("team/*", "team/a/b") || !Glob("*", "a/b") || Glob("team?a", "teama") {
		t.Error("slashes")
	}
	if (&Filter{Service: "*"}).Matches(&Labels{}) != true {
		t.Error("* does not match a session without a service")
	}
}
