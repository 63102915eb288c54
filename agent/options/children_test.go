package options

import "testing"

func TestForChildren(t *testing.T) {
	for in, want := range map[string]string{
		"":                                     "",
		"session=a":                            "",
		"bus=nats://h:1,session=a,strict=true": "bus=nats://h:1,strict=true",
		`creds=/a\,b\\c,session=x`:             `creds=/a\,b\\c`,
	} {
		if got := ForChildren(in); got != want {
			t.Errorf("ForChildren(%q) = %q, want %q", in, got, want)
		}
	}
}
