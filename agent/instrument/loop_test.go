package instrument

import (
	"testing"

	"stackagent/internal/testjvm"
)

// TestLoopCalls: of a loop the method is found that it calls with a piece of work, and it is
// a definition whose class and method exist.
func TestLoopCalls(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	p := compile(t, jdk, "loops")
	h := p.hierarchy(t, jdk, Options{})
	for class, want := range map[string]string{
		"Loops$Handler": "Loops$Apis#handle(LLoops$Request;Ljava/lang/String;)V",
		"Loops$Events":  "Loops$Event#run(LLoops$Request;)V",
		"Loops$Sender":  "Loops$Client#poll(J)Ljava/lang/Object;",
		"Loops$Steps":   "",
		"Loops$Once":    "",
	} {
		plan, err := NewPlan(Input{Class: p.classes[class], Supers: h}, Options{})
		if err != nil || plan == nil {
			t.Fatalf("%s: no plan: %v", class, err)
		}
		if plan.LoopCall != want || !plan.Executed {
			t.Errorf("%s calls %q in its loop (executed: %t), want %q", class, plan.LoopCall, plan.Executed, want)
		}
		if want == "" {
			continue
		}
		if _, err := ParseTaskDefinition(want); err != nil {
			t.Errorf("%s: %v", class, err)
		}
	}
}
