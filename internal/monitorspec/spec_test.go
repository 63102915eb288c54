package monitorspec

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"com.acme.Cache#hits":                            {Kind: Field, Class: "com.acme.Cache", Member: "hits"},
		"Main$Inner#n":                                   {Kind: Field, Class: "Main$Inner", Member: "n"},
		"calls:com.acme.Job#step":                        {Kind: Calls, Class: "com.acme.Job", Member: "step"},
		"calls:com.acme.Order#<init>":                    {Kind: Calls, Class: "com.acme.Order", Member: "<init>"},
		"returns:com.acme.Queue#size":                    {Kind: Returns, Class: "com.acme.Queue", Member: "size"},
		"jmx:java.lang:type=Memory/HeapMemoryUsage.used": {Kind: JMX, Object: "java.lang:type=Memory", Path: "HeapMemoryUsage.used"},
		"jmx:com.acme:type=Pool,*/Active":                {Kind: JMX, Object: "com.acme:type=Pool,*", Path: "Active"},
		"jmx:com.acme:path=/a/b,*/Active":                {Kind: JMX, Object: "com.acme:path=/a/b,*", Path: "Active"},
		"registries":                                     {Kind: Registries},
		"inside":                                         {Kind: Inside},
	} {
		got, problem := Parse(text)
		if problem != "" || got != want {
			t.Errorf("%q: %+v, %q, want %+v", text, got, problem, want)
		}
		if got.String() != text {
			t.Errorf("%q becomes %q", text, got.String())
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{
		"", "com.acme.Cache", "#hits", "com.acme.Cache#", "com.acme.*#hits", "com.acme.Cache#<init>", "calls:com.acme.Job", "calls:com.acme.Job#<clinit>",
		"returns:#size", "jmx:java.lang:type=Memory", "jmx:Memory/Used", "jmx:java.lang:type=Memory/", "jmx:a:b=c/d e", "com..acme#x", "com.acme.Ca\nche#x",
	} {
		if got, problem := Parse(text); problem == "" {
			t.Errorf("%q: %+v, want a problem", text, got)
		}
	}
}
