package advice

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"
)

// TestEvidences: each type with a sentence is in the list from which the JSON Schemas are made.
func TestEvidences(t *testing.T) {
	listed := map[string]bool{}
	for _, e := range Evidences {
		of := reflect.TypeOf(e)
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		listed[of.Name()] = true
	}
	files, _ := filepath.Glob("*.go")
	sentence := regexp.MustCompile(`(?m)^func \(\w+ \*?(\w+)\) sentence\(`)
	found := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range sentence.FindAllSubmatch(b, -1) {
			if found++; !listed[string(m[1])] && len(file) > len("_test.go") && file[len(file)-len("_test.go"):] != "_test.go" {
				t.Errorf("%s is not in Evidences", m[1])
			}
		}
	}
	if found < len(Evidences) {
		t.Errorf("found %d types, %d are listed", found, len(Evidences))
	}
}
