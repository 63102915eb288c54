package suite

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/text"
	"stackagent/internal/yamlfile"
)

// Word is a name in braces that stands for a value in a command.
type Word struct{ Name, Doc string }

// Words are those that every command may have. A program can declare more under words:.
var Words = []Word{
	{"folder", "the folder that `prepare:` filled"},
	{"heap", "the size of the heap, as in `-Xmx{heap}`; empty if the runner leaves it to the JVM"},
	{"iterations", "how many iterations to run"},
	{"jvm", "options of the JVM; a command without it gets them after `java`"},
	{"name", "the program's name"},
	{"size", "the value of `size:`, or of `small:` in a quick run"},
	{"threads", "the number of threads"},
}

// prepareWords are those of prepare:, which runs before there are values for the others.
var prepareWords = []string{"folder", "name"}

// jvmWord is put behind the word java of a command that does not have it.
const (
	javaCommand = "java"
	jvmWord     = "{jvm}"
)

// word is what looks like a word; other text in braces is left as it is.
var word = regexp.MustCompile(`\{[a-z][a-z0-9_]*\}`)

var wordName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)

func commandWords(own map[string]string) []string {
	names := slices.Collect(maps.Keys(own))
	for _, w := range Words {
		names = append(names, w.Name)
	}
	slices.Sort(names)
	return names
}

func (p *Program) setWords(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxList {
		return yamlfile.At(n, "words: needs up to %d names with values, such as {queries: 500}", maxList)
	}
	p.Words = map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, err := scalar(n.Content[i])
		if err != nil {
			return err
		}
		_, again := p.Words[name]
		switch {
		case !wordName.MatchString(name):
			return yamlfile.At(n.Content[i], "the word %q: use up to 32 small letters, digits and '_'", text.Cut(name, 40))
		case again || slices.Contains(commandWords(nil), name):
			return yamlfile.At(n.Content[i], "there already is a word {%s}", name)
		}
		if p.Words[name], err = scalar(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// checkWords says which word of a command nobody knows, "" if all are known.
func (p *Program) checkWords(args, known []string) string {
	for _, a := range args {
		for _, w := range word.FindAllString(a, -1) {
			if name := strings.Trim(w, "{}"); !slices.Contains(known, name) {
				return fmt.Sprintf("unknown word %s%s", text.Cut(w, 40), text.DidYouMean(name, known))
			}
		}
	}
	return ""
}

// Uses reports whether the command has a word, given without braces.
func (p *Program) Uses(name string) bool {
	return slices.ContainsFunc(p.Command, func(a string) bool { return strings.Contains(a, "{"+name+"}") })
}

// Values are what the words of a command stand for in one run.
type Values struct {
	Java       string   // what to run in place of java; "": java
	JVM        []string // {jvm}
	Folder     string   // {folder}, as Ready returns it
	Heap       string   // {heap}: 256m, for example
	Threads    int      // {threads}
	Iterations int      // {iterations}; 0: the program's default
	Small      bool     // {size} is that of a quick run
	// Words replace values of the program's own words.
	Words map[string]string
}

// Argv is the command with the values put in. An argument that is only a word becomes as many arguments as its value
// has words, none if it is empty; within an argument the value is put in as it is. The command runs in p.Dir.
func (p *Program) Argv(v Values) ([]string, error) {
	values := map[string]string{
		"folder":     v.Folder,
		"heap":       v.Heap,
		"iterations": strconv.Itoa(max(1, p.Iterations)),
		"jvm":        strings.Join(v.JVM, " "),
		"name":       p.Name,
		"size":       p.Size,
		"threads":    strconv.Itoa(v.Threads),
	}
	if v.Iterations > 0 {
		values["iterations"] = strconv.Itoa(v.Iterations)
	}
	if v.Small {
		values["size"] = p.Small
	}
	maps.Copy(values, p.Words)
	for name, value := range v.Words {
		if _, ok := p.Words[name]; !ok {
			own := slices.Sorted(maps.Keys(p.Words))
			return nil, fmt.Errorf("%s has no word {%s} of its own%s", p.Name, name, text.DidYouMean(name, own))
		}
		values[name] = value
	}
	if v.Threads < 1 && p.Uses("threads") {
		return nil, fmt.Errorf("%s needs a number of threads", p.Name)
	}
	return p.fill(v, values), nil
}

func (p *Program) fill(v Values, values map[string]string) []string {
	command := p.Command
	if command[0] == javaCommand && !p.Uses("jvm") {
		command = slices.Insert(slices.Clone(command), 1, jvmWord)
	}
	var argv []string
	for i, a := range command {
		switch {
		case i == 0 && a == javaCommand && v.Java != "":
			argv = append(argv, v.Java)
		case a == jvmWord: // its options may have spaces in them
			argv = append(argv, v.JVM...)
		case a == "{folder}":
			argv = append(argv, v.Folder)
		case known(a, values):
			argv = append(argv, strings.Fields(values[strings.Trim(a, "{}")])...)
		default:
			argv = append(argv, replace(a, values))
		}
	}
	return argv
}

// known reports whether an argument is nothing but a word that has a value.
func known(a string, values map[string]string) bool {
	_, ok := values[strings.Trim(a, "{}")]
	return ok && word.FindString(a) == a
}

// replace puts values into an argument. Values are not looked into for words.
func replace(a string, values map[string]string) string {
	return word.ReplaceAllStringFunc(a, func(w string) string {
		if value, ok := values[strings.Trim(w, "{}")]; ok {
			return value
		}
		return w
	})
}
