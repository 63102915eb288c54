package evidence

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestCompleters: the agent keeps the stacks on which these methods are.
func TestCompleters(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "jvmti", "life_samples.c"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, found := strings.Cut(string(source), "completers[] = {")
	if !found {
		t.Fatal("the agent has no list of them")
	}
	list, _, _ = strings.Cut(list, "};")
	got := map[string]string{}
	for _, m := range regexp.MustCompile(`\{"L(\S+);", "(\S+)"\}`).FindAllStringSubmatch(list, -1) {
		got[strings.ReplaceAll(m[1], "/", ".")] = m[2]
	}
	if !maps.Equal(got, completers) {
		t.Errorf("the agent has %v, the analysis %v", got, completers)
	}
}
