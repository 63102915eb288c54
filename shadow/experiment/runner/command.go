package runner

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/launch"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/suite"
)

// commandAt is the command at a point, and its environment.
func (r *Runner) commandAt(p experiment.Point) (args, environ []string, err error) {
	program, environ := r.at(p), slices.Clone(r.Environ)
	v := suite.Values{Folder: program.folder, Heap: p.Of(experiment.Heap), Words: map[string]string{}, Small: r.Input.Small, Iterations: r.Input.Iterations}
	v.Threads, _ = strconv.Atoi(cmp.Or(p.Of(experiment.Threads), strconv.Itoa(runtime.NumCPU())))
	if n := p.Of(Iterations); n != "" {
		v.Iterations, _ = strconv.Atoi(n) // ours
	}
	home := p.Of(experiment.JDK)
	if home != "" {
		v.Java = filepath.Join(home, "bin", "java")
		environ = append(environ, "JAVA_HOME="+home, "PATH="+filepath.Join(home, "bin")+":"+r.Getenv("PATH"))
	}
	for own := range program.Words {
		if given := p.Of(own); given != "" {
			v.Words[own] = given
		}
	}
	if v.JVM, err = r.jvmOptions(program, p); err != nil {
		return nil, nil, err
	}
	args, err = program.Argv(v)
	if err != nil {
		return nil, nil, err
	}
	if home != "" && launch.IsJava(args[0]) {
		args[0] = v.Java
	}
	if p.Of(CPUs) == "1" {
		args = slices.Insert(args, 0, "taskset", "-c", "0")
	}
	if !program.Uses(experiment.JVMOptions) && !launch.IsJava(program.Command[0]) && len(v.JVM) > 0 {
		environ = append(environ, JavaOptions+"="+strings.TrimSpace(r.Getenv(JavaOptions)+" "+strings.Join(v.JVM, " ")))
	}
	return args, environ, nil
}

// jvmOptions are those of a run that the command has no words for.
func (r *Runner) jvmOptions(program *Program, p experiment.Point) ([]string, error) {
	jvm := slices.Clone(r.Always)
	if c := p.Of(experiment.Collector); c != "" {
		_, options, err := experiment.CollectorOptions(c)
		if err != nil {
			return nil, err
		}
		jvm = append(jvm, strings.Fields(options)...)
	}
	if n := p.Of(experiment.GCThreads); n != "" && !program.Uses(experiment.GCThreads) {
		jvm = append(jvm, "-XX:ParallelGCThreads="+n)
	}
	if o := p.Of(Pointers); o != "" {
		jvm = append(jvm, pointerOptions[o])
	}
	if name := p.Of(experiment.JVMOptions); name != "" {
		i := slices.IndexFunc(r.Sets, func(s JVMSet) bool { return s.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("no set of JVM options is called %q", name)
		}
		jvm = append(jvm, r.Sets[i].Options...)
	}
	if heap := p.Of(experiment.Heap); heap != "" {
		if !program.Uses(experiment.Heap) {
			jvm = append(jvm, "-Xmx"+heap)
		}
		if r.PinHeap {
			jvm = append(jvm, "-Xms"+heap)
		}
	}
	return jvm, nil
}
