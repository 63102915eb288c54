package instrument

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/settings"
	"stackagent/internal/testjvm"
)

// siteList is a Sites that keeps the sites.
type siteList struct{ list []string }

func (s *siteList) Add(x Site) int32 {
	s.list = append(s.list, strings.TrimRight(fmt.Sprintf("%s.%s(%s:%d) %s %s", x.Class, x.Method, x.File, x.Line, x.Calls, x.Function), " "))
	return int32(len(s.list))
}

// TestSubmissionPlans compares what is woven for submissions and call sites: the plan
// of each class and its sites.
func TestSubmissionPlans(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	p := compile(t, jdk, "submission")
	sites := &siteList{}
	o := Options{Asked: settings.Settings{Submissions: true}, Sites: sites}
	h := p.hierarchy(t, jdk, o)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.classes)) {
		plan, err := NewPlan(Input{Class: p.classes[name], Supers: h}, o)
		if err != nil {
			t.Fatal(err)
		}
		if plan == nil {
			fmt.Fprintf(&b, "class %s: nothing\n", name)
			continue
		}
		b.WriteString(plan.String())
		first := len(sites.list)
		if _, err := plan.Weave(); err != nil {
			t.Fatal(err)
		}
		for _, s := range sites.list[first:] {
			fmt.Fprintf(&b, "  site %s\n", s)
		}
	}
	checkUpdatable(t, "submissions.golden", b.String())
}

// TestSubmissionListings compares woven methods, instruction by instruction.
func TestSubmissionListings(t *testing.T) {
	jdk := testjvm.JDKs(t)[0]
	p := compile(t, jdk, "submission")
	o := Options{Asked: settings.Settings{Submissions: true}, Sites: &siteList{}}
	checkUpdatable(t, "submission_listings.golden", listings(t, p, p.hierarchy(t, jdk, o), o,
		"fx/Submissions$Own.execute", "fx/Submissions$Own.schedule",
		"fx/Submissions.lambda", "fx/Submissions.makes", "fx/Submissions.loop",
	))
}

// TestJDKSubmissions: the methods of the platform that submit tasks. What is expected
// follows from the JDK's own sources.
func TestJDKSubmissions(t *testing.T) {
	const run = "Ljava/lang/Runnable;"
	const tryFire = "stage tryFire(I)L" + nameCompletableFuture + "; "
	stageFails, stageEnds := []string{tryFire + "stageFailed 1"}, []string{tryFire + "stageCalls 1"}
	tests := []struct {
		class string
		since int
		want  []string // lines of the plan
	}{
		{nameThread, 0, []string{"submission start()V starting"}},
		{nameVirtualThread, 21, []string{"submission start()V starting"}},
		{nameClassValues, 0, []string{"field " + FieldExecutorClass + " J"}},
		{nameForkJoinTask, 0, []string{"field " + FieldSubmitted + " J", "submission fork()L" + nameForkJoinTask + "; forking", "cancellation cancel(Z)Z cancelled"}},
		{nameFutureTask, 0, []string{"field " + FieldSubmitted + " J", "cancellation cancel(Z)Z cancelled", "asked in report(I)Ljava/lang/Object; 2"}},
		{nameCompletableFuture, 0, []string{
			"asked in uniHandle(Ljava/lang/Object;Ljava/util/function/BiFunction;L" + nameCompletableFuture + "$UniHandle;)Z 1",
			"asked in uniWhenComplete(Ljava/lang/Object;Ljava/util/function/BiConsumer;L" + nameCompletableFuture + "$UniWhenComplete;)Z 1",
			"asked in uniExceptionally(Ljava/lang/Object;Ljava/util/function/Function;L" + nameCompletableFuture + "$UniExceptionally;)Z 1"}},
		{nameCompletableFuture, 0, []string{
			"stage uniHandle(Ljava/lang/Object;Ljava/util/function/BiFunction;L" + nameStage + "UniHandle;)Z stageThrew 1",
			"stage uniWhenComplete(Ljava/lang/Object;Ljava/util/function/BiConsumer;L" + nameStage + "UniWhenComplete;)Z stageThrewToo 1",
			"stage uniExceptionally(Ljava/lang/Object;Ljava/util/function/Function;L" + nameStage + "UniExceptionally;)Z stageThrew 1",
			"stage biApply(Ljava/lang/Object;Ljava/lang/Object;Ljava/util/function/BiFunction;L" + nameStage + "BiApply;)Z stageThrew 1",
			"stage biAccept(Ljava/lang/Object;Ljava/lang/Object;Ljava/util/function/BiConsumer;L" + nameStage + "BiAccept;)Z stageThrew 1"}},
		{nameStage + "AsyncSupply", 0, []string{"stage run()V stageFailed 1"}},
		{nameStage + "UniApply", 0, stageFails}, {nameStage + "UniAccept", 0, stageFails}, {nameStage + "UniCompose", 0, stageFails},
		{nameStage + "UniComposeExceptionally", 0, stageFails}, {nameStage + "OrApply", 0, stageFails}, {nameStage + "OrAccept", 0, stageFails},
		{nameStage + "UniHandle", 0, stageEnds}, {nameStage + "UniWhenComplete", 0, stageEnds}, {nameStage + "UniExceptionally", 0, stageEnds},
		{nameStage + "BiApply", 0, stageEnds}, {nameStage + "BiAccept", 0, stageEnds},
		{nameCompletableFuture, 25, []string{"asked in reportGet(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Object; 3",
			"asked in reportJoin(Ljava/lang/Object;Ljava/lang/String;)Ljava/lang/Object; 3", "asked in exceptionNow()Ljava/lang/Throwable; 1"}},
		{nameTimerTask, 0, []string{"field " + FieldSubmitted + " J", "cancellation cancel()Z cancelled"}},
		{nameForkJoinTask + "$InterruptibleTask", 25, []string{"cancellation cancel(Z)Z cancelled"}},
		{"java/util/concurrent/DelayScheduler$ScheduledForkJoinTask", 25, []string{"cancellation cancel(Z)Z cancelled"}},
		{"java/util/concurrent/ThreadPoolExecutor", 0, []string{"submission execute(" + run + ")V submitting",
			"worker runWorker(Ljava/util/concurrent/ThreadPoolExecutor$Worker;)V working"}},
		{"java/util/concurrent/AbstractExecutorService", 0, []string{"field " + FieldExecutorID + " J",
			"submission submit(" + run + ")Ljava/util/concurrent/Future; submitting"}},
		{"java/util/concurrent/ForkJoinPool", 0, []string{"submission execute(" + run + ")V submitting",
			"submission invoke(L" + nameForkJoinTask + ";)Ljava/lang/Object; submitting",
			"worker runWorker(Ljava/util/concurrent/ForkJoinPool$WorkQueue;)V working"}},
		{"java/util/concurrent/ScheduledThreadPoolExecutor", 0, []string{
			"submission schedule(" + run + "JLjava/util/concurrent/TimeUnit;)Ljava/util/concurrent/ScheduledFuture; scheduling",
			"submission reExecutePeriodic(Ljava/util/concurrent/RunnableScheduledFuture;)V repeating"}},
		{"java/util/concurrent/Executors$DelegatedExecutorService", 0, []string{"field " + FieldExecutorID + " J",
			"submission execute(" + run + ")V submitting"}},
		{"java/util/Timer", 0, []string{"field " + FieldExecutorID + " J", "submission schedule(Ljava/util/TimerTask;J)V scheduling"}},
		{"java/util/concurrent/ThreadPerTaskExecutor", 21, []string{"submission execute(" + run + ")V submitting"}},
	}
	o := Options{Asked: settings.Settings{Submissions: true}}
	for _, jdk := range testjvm.JDKs(t) {
		im := image(t, jdk)
		h := NewImageHierarchy(im.Class, o)
		for _, tt := range tests {
			if jdk.Version < tt.since {
				continue
			}
			checkPlanLines(t, jdk, im, h, o, tt.class, tt.want)
		}
	}
}
