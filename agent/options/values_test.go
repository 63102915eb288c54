package options

import (
	"cmp"
	"testing"
)

func TestSpool(t *testing.T) {
	for text, want := range map[string]Options{
		"spool=off":                    {Spool: "off"},
		"spool=/var/spool/agent":       {Spool: "/var/spool/agent"},
		"buffer=4G,spoolsize=2m":       {Buffer: 4 << 30, SpoolBytes: 2 << 20},
		"spoolsize=1048576":            {SpoolBytes: 1 << 20},
		"spoolsize=64G":                {SpoolBytes: 64 << 30},
		"spool=/x\\,y,spoolsize=1024k": {Spool: "/x,y", SpoolBytes: 1 << 20},
	} {
		o, err := Parse(text)
		if err != nil || o.Spool != want.Spool || o.SpoolBytes != cmp.Or(want.SpoolBytes, 256<<20) || o.Buffer != cmp.Or(want.Buffer, 64<<20) {
			t.Errorf("%s: %q, %d, %v", text, o.Spool, o.SpoolBytes, err)
		}
	}
	for _, text := range []string{"spool=relative", "spool=", "spool=/a\x00", "spoolsize=1", "spoolsize=1023K", "spoolsize=65G",
		"spoolsize=-1M", "spoolsize=M", "spoolsize=1T", "buffer=5G", "buffer=1", "spoolsize=9223372036854775807G"} {
		if o, err := Parse(text); err == nil {
			t.Errorf("%q is taken: %q, %d", text, o.Spool, o.SpoolBytes)
		}
	}
}
