package figure

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"stackagent/granularity/nominal"
)

// componentFigures are as many programs as the paper has, with two in the same place, and the least that have components.
func componentFigures() map[string]*Figure {
	random := rand.New(rand.NewPCG(22, 4))
	names := []string{"avrora", "batik", "biojava", "cassandra", "eclipse", "fop", "graphchi", "h2", "h2o", "jme", "jython", "kafka", "luindex", "lusearch",
		"pmd", "spring", "sunflow", "tomcat", "tradebeans", "tradesoap", "xalan", "zx\u202ering"}
	c := &nominal.Components{Explained: []float64{0.184, 0.161, 0.127, 0.112, 0.09}}
	for range names {
		var at []float64
		for range c.Explained {
			at = append(at, 2.5*random.NormFloat64())
		}
		c.Scores = append(c.Scores, at)
	}
	c.Scores[19] = c.Scores[18]
	three := &nominal.Components{Explained: []float64{0.7, 0.3}, Scores: [][]float64{{1.2, 0.1}, {-0.6, 1.1}, {-0.6, -1.2}}}
	return map[string]*Figure{
		"components": Components(names, c), "components-three": Components([]string{"pmd", "kafka", "com.acme.very.long.name.of.a.program.Main"}, three),
		"components-empty": Components(nil, nil),
	}
}

// TestComponentNames: each program has its name in each plot, however close it is to others.
func TestComponentNames(t *testing.T) {
	drawn := map[string]int{}
	for _, b := range texts(t, componentFigures()["components"]) {
		drawn[b.text]++
	}
	for _, name := range []string{"avrora", "tradebeans", "tradesoap", "xalan"} {
		if drawn[name] != 2 {
			t.Errorf("%s is drawn %d times: %v", name, drawn[name], drawn)
		}
	}
}

// TestCrowdedComponents: a hundred programs in one place; no name covers another (TestTextFits) or leaves the plot.
func TestCrowdedComponents(t *testing.T) {
	c, names := &nominal.Components{Explained: []float64{0.6, 0.4}}, []string{}
	for i := range 100 {
		names = append(names, fmt.Sprint("program-", i))
		c.Scores = append(c.Scores, []float64{float64(i % 2), float64(i % 3)})
	}
	if n := len(texts(t, Components(names, c))); n < 20 {
		t.Errorf("%d texts", n)
	}
}
