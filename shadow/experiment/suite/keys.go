package suite

// Key is a key of a program in the YAML file.
type Key struct{ Name, Doc, Example string }

// Keys are all keys; only name: and command: are needed.
var Keys = []Key{
	{"name", "up to 64 letters, digits, `.`, `_` and `-`; the name of its folder, too", "lucene"},
	{"command", "what to run, split at spaces; a list if an argument has spaces. No shell reads it. It runs in the folder of the YAML file", "java -cp {folder}/lib/* Main {threads} {size}"},
	{"prepare", "run before the first run, to fill `{folder}`; its output is shown only if it fails", "common/jars.sh com.h2database:h2:2.4.240"},
	{"size", "the value of `{size}`", "20000 500"},
	{"small", "the value of `{size}` in a quick run (default: that of `size`)", "1000 50"},
	{"iterations", "the value of `{iterations}` (default: 1)", "5"},
	{"marker", "how an iteration is recognised: `output:`, an expression that a line printed at its end matches, or `task:`, the method whose execution it is. Without it the run is one iteration", `output:^iteration \d+ took`},
	{"check", "an expression that a line of the output must match, else the run has failed (default: the exit code decides)", "^ok"},
	{"requests", "the class, or a glob of classes, of the tasks that are requests", "Main$Query"},
	{"tasks", "more kinds of tasks, as in `--task`", `["@kafka"]`},
	{"words", "words of its own for the command, with their values", "{clients: 8}"},
	{"jdk", "the versions of Java that it runs on: `17`, `21-` or `17-23`", "21-"},
	{"what", "what it does, a line", "Lucene answers queries"},
	{"licence", "of the program and its input", "Apache-2.0"},
}
