package e2e_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// A task so large that the place of its submission time does not fit into what is known of its class is counted like others.
func TestLargeTask(t *testing.T) {
	testjvm.Shared(t)
	const n = 100
	var fields strings.Builder
	for i := range 2048 {
		fields.WriteString("long f" + strconv.Itoa(i) + "; ")
	}
	source := `class Base { ` + fields.String() + `}
final class Main extends Base implements Runnable {
    public void run() {}

    public static void main(String[] args) throws InterruptedException {
        for (int i = 0; i < ` + strconv.Itoa(n) + `; i++) {
            Thread t = new Thread(new Main());
            t.start();
            t.join();
        }
    }
}
`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Main.java"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		p := testjvm.Command{JDK: jdk, Classpath: testjvm.Compile(t, jdk, dir), Main: "Main"}.Session(t)
		for _, r := range p.Hotspots(t) {
			if r.Class == "Main" && (r.Created != n || r.Executions != n) {
				t.Errorf("%d created, %d executed, want %d", r.Created, r.Executions, n)
			}
		}
	})
}
