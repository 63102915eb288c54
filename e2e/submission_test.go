package e2e_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// submission is what is known of one submission of a class: flags and executor
// of each, in their order.
type submission struct {
	flags    wire.SubmissionFlags
	executor string
}

const (
	threadPool = "java.util.concurrent.ThreadPoolExecutor"
	delegating = "java.util.concurrent.Executors$DelegatedExecutorService"
	scheduler  = "java.util.concurrent.ScheduledThreadPoolExecutor"
	forkPool   = "java.util.concurrent.ForkJoinPool"
)

// wantSubmissions follows from the text of examples/submissions and the JDK's sources.
var wantSubmissions = map[string][]submission{
	"Main$Executed":       {{0, threadPool}},
	"Main$Submitted":      {{0, threadPool}},
	"Main$All":            nil,               // invokeAll submits the FutureTask around each
	"Main$Completed":      {{0, threadPool}}, // the executor of the completion service
	"Main$Delegated":      {{0, delegating}, {wire.Inner, threadPool}},
	"Main$Async":          nil,               // runAsync submits the AsyncRun around it
	"Main$OnSub":          {{0, "Main$Sub"}}, // super.execute() is the same submission
	"Main$Retried":        {{0, "Main$Moody"}},
	"Main$Nesting":        {{0, "Main$Own"}},
	"Main$Direct":         {{0, "Main$Own"}},
	"Main$ByLambda":       {{0, "Main$$Lambda"}},
	"Main$Invoked":        {{0, forkPool}},
	"Main$Forked":         {{wire.Forked, forkPool}},
	"Main$Scheduled":      {{wire.Scheduled, scheduler}},
	"Main$Timed":          {{wire.Scheduled, "java.util.Timer"}},
	"Main$Started":        {{wire.Started, ""}},
	"Main$NeverSubmitted": nil,
	"Main$Blocker":        {{0, threadPool}},
	"Main$Cancelled":      {{0, threadPool}, {wire.Cancelled, ""}},
	"Main$Withdrawn":      {{0, threadPool}, {wire.Cancelled, ""}}, // with the future around it
	"Main$Untimed":        {{wire.Scheduled, "java.util.Timer"}, {wire.Cancelled, ""}},
	"Main$NeverRun":       {{0, threadPool}},
	"Main$Rejected":       {{0, threadPool}, {wire.Rejected, threadPool}},
	"Main$RejectedCall":   {{0, threadPool}, {wire.Rejected, threadPool}},

	"java.util.concurrent.CompletableFuture$AsyncRun": {{0, threadPool}},
	"java.util.concurrent.FutureTask": {{wire.Inner, threadPool}, {0, threadPool}, {0, threadPool},
		{wire.Inner, threadPool}, {wire.Cancelled, ""}, {wire.Inner, threadPool}, {wire.Inner | wire.Rejected, threadPool}},
	"java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask": {{wire.Inner | wire.Scheduled, scheduler}},
	"java.util.concurrent.ExecutorCompletionService$QueueingFuture":        {{wire.Inner, threadPool}},
}

// wantFates is what becomes of those of examples/submissions that are never executed.
var wantFates = map[string]session.TaskState{
	"Main$NeverSubmitted": session.NeverSubmitted, "Main$NeverRun": session.NeverRun,
	"Main$Cancelled": session.Cancelled, "Main$Withdrawn": session.Cancelled, "Main$Untimed": session.Cancelled,
	"Main$Rejected": session.Rejected, "Main$RejectedCall": session.Rejected,
}

func checkFates(t *testing.T, dir string) {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]session.TaskState{}
	err = s.Tasks(func(x *session.Task) error {
		if strings.HasPrefix(x.Class.Name, "Main$") && !strings.Contains(x.Class.Name, "$$Lambda") && x.State != session.Executed {
			got[x.Class.Name] = x.State
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(got, wantFates) {
		t.Errorf("never executed are %v, want %v", got, wantFates)
	}
}

// submitted is what a session says of a class.
type submitted struct {
	submissions   []submission
	sites, making map[string]bool
}

// TestSubmissions: every kind of submission, with its executor and its call site, by a
// program with a class for each.
func TestSubmissions(t *testing.T) {
	testjvm.Shared(t)
	made, submittedAt := marks(t, "examples/submissions", submissionMethods)
	delete(made, nestedMaking)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "submissions").Command(t, jdk)
			cmd.Agent = []string{"--detail", "all"}
			p := cmd.Session(t)
			classes := readSubmissions(t, p.Dir, true)
			for class, want := range wantSubmissions {
				got := classes[class]
				if got == nil {
					got = &submitted{}
				}
				if !slices.Equal(got.submissions, want) {
					t.Errorf("%s: submitted %v, want %v", class, got.submissions, want)
				}
				if want := submittedAt[class]; want != "" && !got.sites[want] {
					t.Errorf("%s: submitted at %v, want %s", class, got.sites, want)
				}
			}
			for class, want := range made {
				if got := classes[class]; got == nil || len(got.making) != 1 || !got.making[want] {
					t.Errorf("%s: made at %v, want %s", class, got, want)
				}
			}
			checkQueues(t, p)
			checkFates(t, p.Dir)
		})
	}
}

// TestSubmissionsOrSites: each of the two without the other.
func TestSubmissionsOrSites(t *testing.T) {
	testjvm.Shared(t)
	made, _ := marks(t, "examples/submissions", submissionMethods)
	delete(made, nestedMaking)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := testjvm.Example(t, "submissions").Command(t, jdk)
			cmd.Agent = []string{"--detail", "all", "--submissions=false"}
			classes := readSubmissions(t, cmd.Session(t).Dir, false)
			for class, want := range made {
				if got := classes[class]; got == nil || len(got.submissions) != 0 || len(got.making) != 1 || !got.making[want] {
					t.Errorf("sites alone: %s: made at %v, want %s and no submission", class, got, want)
				}
			}
			cmd.Agent = []string{"--detail", "all", "--sites=false"}
			classes = readSubmissions(t, cmd.Session(t).Dir, true)
			for class, want := range wantSubmissions {
				got := classes[class]
				if want != nil && (got == nil || !slices.Equal(got.submissions, want)) {
					t.Errorf("submissions alone: %s: submitted %v, want %v", class, got, want)
				}
				if got != nil && len(got.sites)+len(got.making) != 0 {
					t.Errorf("submissions alone: %s: sites %v, %v", class, got.sites, got.making)
				}
			}
		})
	}
}

// nestedMaking is made by a constructor that makes another task before it: the
// call site is then not known.
const nestedMaking = "Main$Cancelled"

// submissionMethods are the methods in which tasks of examples/submissions are made
// and submitted, by class; of the others it is main.
var submissionMethods = map[string]string{"Forked": "Main$Invoked.compute", "Direct": "Main$Nesting.run"}

// marks reads the lines that the comments of the program in a folder name: by
// class, as Main.main:12.
func marks(t *testing.T, folder string, methods map[string]string) (made, submittedAt map[string]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testjvm.Root(t), folder, "Main.java"))
	if err != nil {
		t.Fatal(err)
	}
	made, submittedAt = map[string]string{}, map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		for _, m := range regexp.MustCompile(`@(made|submitted) ([\w.$]+)`).FindAllStringSubmatch(line, -1) {
			method, ok := methods[m[2]]
			if !ok {
				method = "Main.main"
			}
			class, at := "Main$"+m[2], fmt.Sprintf("%s:%d", method, i+1)
			if strings.Contains(m[2], ".") {
				class = m[2]
			}
			if m[1] == "made" {
				made[class] = at
			}
			if m[1] == "submitted" {
				submittedAt[class] = at
			}
		}
	}
	return made, submittedAt
}

// readSubmissions reads what a session says of each class, and holds its account of
// submissions, which there is if any were looked for.
func readSubmissions(t *testing.T, dir string, submissions bool) map[string]*submitted {
	t.Helper()
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	classes := map[string]*submitted{}
	of := func(id uint32) *submitted {
		name := s.ClassByID(id).Name
		if classes[name] == nil {
			classes[name] = &submitted{sites: map[string]bool{}, making: map[string]bool{}}
		}
		return classes[name]
	}
	err = s.Submissions(func(c *session.SubmissionChunk) error {
		for i := range c.TaskID {
			x, executor := of(c.Class[i]), ""
			if e := s.ExecutorByID(c.Executor[i]); e != nil {
				executor = e.Class
			}
			x.submissions = append(x.submissions, submission{wire.SubmissionFlags(c.Flags[i]), executor})
			if site := s.SiteByID(c.Site[i]); site != nil {
				x.sites[site.Label()] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Creations(func(c *session.CreationChunk) error {
		for i := range c.TaskID {
			if site := s.SiteByID(c.Site[i]); site != nil {
				of(c.Class[i]).making[site.Label()] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Manifest.Submissions; (n != nil) != submissions || n != nil && (n.Unaccounted != 0 || n.Lost != 0) {
		t.Errorf("the account of submissions: %+v", n)
	}
	return classes
}

// checkQueues holds each queue time against what the program saw: from after
// the submission to the end of the task before, from before it to the begin.
func checkQueues(t *testing.T, p testjvm.Profile) {
	t.Helper()
	const slack = 100_000 // ns: the rate of the clock is known to a few parts per million
	var queues [][2]int64 // start, queue time
	for _, row := range p.Tasks(t) {
		if row["class"] == "Main$Delay" {
			queues = append(queues, [2]int64{number(t, row, "start_ns"), number(t, row, "queue_ns")})
		}
	}
	slices.SortFunc(queues, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	var at int
	for _, l := range strings.Split(p.Stdout, "\n") {
		var least, most int64
		if n, _ := fmt.Sscanf(l, "queued %d %d", &least, &most); n != 2 {
			continue
		}
		i := 2*at + 1 // the second of each pair
		at++
		if i >= len(queues) {
			t.Fatalf("%d queue times, want 10", len(queues))
		}
		if q := queues[i][1]; q < least-slack || q > most+slack {
			t.Errorf("task %d: queued for %d ns, the program saw %d to %d", i, q, least, most)
		}
	}
	if at != 5 {
		t.Errorf("the program printed %d queue times, want 5", at)
	}
}
