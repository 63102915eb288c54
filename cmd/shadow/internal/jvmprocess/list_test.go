package jvmprocess

import (
	"strings"
	"testing"
)

// TestMainOf: the main class is the first word of the launcher's command line that is no option and no value of one.
func TestMainOf(t *testing.T) {
	for line, want := range map[string]string{
		"java|com.acme.Main|x": "com.acme.Main",
		"/opt/jdk/bin/java|-Xmx1g|-cp|a:b|-Dx=y|com.acme.Main|-jar|z": "com.acme.Main",
		"java|-jar|/opt/app/app.jar|serve":                            "app.jar",
		"java|-p|mods|-m|acme/com.acme.Main":                          "com.acme.Main",
		"java|--module=acme":                                          "acme",
		"java|@args|--add-opens|java.base/java.lang=ALL-UNNAMED|Main": "Main",
		"java|-jar": "",
		"java":      "",
		"":          "",
	} {
		if got := mainOf([]byte(strings.ReplaceAll(line, "|", "\x00") + "\x00")); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
