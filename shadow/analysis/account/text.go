package account

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"stackagent/granularity/account"
	"stackagent/granularity/graph"
	"stackagent/internal/text"
	"stackagent/internal/units"
	sessiongraph "stackagent/shadow/analysis/graph"
	"stackagent/shadow/analysis/wait"
)

// nearlyAll is the share of the response times that a class waits for something from which nearly all of its units in progress do.
const nearlyAll = 0.9

// unsplit is what to do about an operation on a stream that does not run in parallel.
func unsplit(class string) string {
	if strings.Contains(class, " (forEachOrdered, ") {
		return "forEachOrdered runs its action for one element at a time, in the order of the source: do the work in map() before it, which runs in parallel, and only what needs the order in forEachOrdered."
	}
	return "Collect the elements into a list or an array before the parallel stream: a source of unknown size, such as an iterator, is split badly, up to JDK 18 not at all below 1,024 elements. A single element cannot be split."
}

// describe writes an obstacle's sentences.
func (s *Session) describe(o *Obstacle, why cause) {
	holder := s.graph.Classes[why.holder]
	of := s.depend(o)
	switch why.kind {
	case WaitsForItself:
		if s.graph.Executors[why.executor].Leaves {
			o.Title = fmt.Sprintf("%s waits for what a virtual thread without a carrier has, and those that keep the %s wait for it, too", o.Victim, text.PluralExact(int64(s.count(why.executor)), "carrier", "carriers"))
			o.Happened = "A virtual thread that is pinned keeps its carrier while it waits. Who has the lock, or is the next to get it, cannot continue until one is free. " + of
			o.Remedy = "Look for what pins: a native frame, or the initialiser of a class; before JDK 24 synchronized, too. Take the wait out of it. More carriers only move the load at which it stands still: if all are kept for ever, it is a deadlock."
			return
		}
		pool := s.pool(why.executor)
		o.Title = fmt.Sprintf("%s waits for itself", pool)
		o.Happened = fmt.Sprintf("Its %s %s in units that wait for other units, which are queued in the same pool behind them. %s", s.workers(why.executor), verb(s.atOnce(why.executor), "is", "are"), of)
		if why.left {
			o.Happened += " What they wait for never began, until its time limit or the end: if all workers wait like this without one, it is a deadlock."
		}
		o.Remedy = "Run the parts in the caller, or give them a pool of their own; more workers only move the load at which it stands still."
	case HoldAndWait:
		o.Title = fmt.Sprintf("%s waits for %s, and so does everybody who could give it one", holder, s.place(why.place-1))
		o.Happened = "At these moments each unit in progress of the classes that hand it back waited for one itself. " + of
		o.Remedy = "Take at once all that a unit needs, or have one more of them than units that can hold one and wait for the next; more threads make it worse."
	case Occupied:
		pool := s.pool(why.executor)
		in, does, too := s.graph.Classes[why.worker], s.state(why.root)+s.howLong(why.root), ""
		if in == o.Victim {
			too = ", too"
		}
		if why.worker != why.holder {
			does = fmt.Sprintf("waits for %s, which %s", holder, does)
		}
		if s.graph.Executors[why.executor].Leaves {
			s.describeKept(o, why, of)
			return
		}
		o.Title = fmt.Sprintf("%s waits in %s, whose %s in %s%s, which %s", o.Victim, pool, verb(s.atOnce(why.executor), "worker is", "workers are"), in, too, does)
		more, has := "more workers", fmt.Sprintf("It has %s.", s.workers(why.executor))
		if limit := s.stopsAtCore(why.executor); limit != "" {
			more, has = "a higher core size", has+" "+limit
		}
		o.Happened = has + " " + of
		o.Remedy = fmt.Sprintf("Give this pool %s.", more)
		if s.shared(why.executor) {
			o.Remedy = fmt.Sprintf("Give this pool %s, or what waits a pool of its own.", more)
		}
		if s.count(why.executor) == 1 && !s.isCommon(why.executor) {
			o.Remedy += keepsOrder
		}
		if s.graph.Pooled[why.executor] && s.count(why.executor) > 1 {
			o.Remedy = "Its workers are virtual threads, which need no pool: run each task on one of its own (Executors.newVirtualThreadPerTaskExecutor). If what they wait for can serve only a few at a time, limit these with a semaphore."
		}
		if s.isTimer(why.executor) {
			o.Remedy = "Use a ScheduledThreadPoolExecutor with more threads: a Timer has one."
		}
		if s.inStage(why.root) {
			o.Remedy = "Give the stage its Async form with an executor (thenApplyAsync, whenCompleteAsync): it then runs there, not on the thread that completes the future."
		} else if in != o.Victim && s.shared(why.executor) {
			o.Remedy = fmt.Sprintf("Give %s a pool of its own, or this one %s.", in, more)
			if s.isTimer(why.executor) {
				o.Remedy = fmt.Sprintf("Give %s a thread of its own, or use a ScheduledThreadPoolExecutor with more threads: a Timer has one.", in)
			}
		}
		if s.graph.Bulk[o.Victim] && s.isCommon(why.executor) {
			o.Remedy = "Run what waits on a pool of its own: a parallel stream is for what computes, with one worker fewer than there are CPUs, and whoever asks for its result."
		}
		if happened, remedy := s.uneven(why.executor); happened != "" {
			o.Happened, o.Remedy = happened+" "+o.Happened, remedy
		}
	case FewWorkers:
		pool := s.pool(why.executor)
		o.Title = fmt.Sprintf("%s has too few workers", pool)
		if holder != o.Victim {
			o.Title = fmt.Sprintf("%s waits in %s, whose %s %s", o.Victim, pool, verb(s.atOnce(why.executor), "worker computes", "workers compute"), holder)
		}
		o.Happened = fmt.Sprintf("While CPUs are idle its %s %s, and units wait in its queue. %s", s.workers(why.executor), verb(s.atOnce(why.executor), "computes", "compute"), of)
		happened, remedy := s.size(why.executor)
		o.Happened, o.Remedy = strings.TrimSpace(happened+" "+o.Happened), remedy
		if holder != o.Victim {
			o.Remedy = fmt.Sprintf("Give %s a pool of its own, or this one more workers: there are %d CPUs.", holder, s.CPUs)
		}
		if s.count(why.executor) == 1 && !s.isCommon(why.executor) {
			o.Remedy += keepsOrder
		}
	case OneOfMany:
		pool := s.pool(why.executor)
		o.Title = fmt.Sprintf("%s waits in %s, which computes while CPUs are idle", o.Victim, pool)
		if why.root.State != account.Compute && why.root != (account.Frame{}) {
			o.Title = fmt.Sprintf("%s waits in %s, whose %s in %s, which %s", o.Victim, pool, verb(s.atOnce(why.executor), "worker is", "workers are"), holder, s.state(why.root))
		}
		o.Happened = fmt.Sprintf("Each of these executors has %s, and a unit runs only on the one that it was handed to, also while another one is idle. %s", s.workers(why.executor), of)
		o.Remedy = fmt.Sprintf("Hand the units over more evenly, or to one executor with %d workers, if they need not stay in order or apart.", max(s.CPUs, s.workersOf(why.executor)))
	case Batched:
		in := s.graph.Classes[why.worker]
		o.Title = fmt.Sprintf("%s runs units of %s one after another: %s runs them inside itself, on one thread", s.pool(why.executor), holder, in)
		o.Happened = "The others of a batch wait while CPUs are idle. " + of
		o.Remedy = fmt.Sprintf("Use an executor that hands each to a pool, or hand what takes long to the pool itself: batches suit callbacks of a few microseconds. %s may also be there to keep them in order, or apart: only if they do not rely on that.", in)
	case Held:
		if why.place == 0 {
			s.describeInside(o, why, of)
			return
		}
		o.Title = fmt.Sprintf("%s waits for %s", o.Victim, s.place(why.place-1))
		if why.root != (account.Frame{}) {
			o.Title += fmt.Sprintf(", held by %s, which %s", holder, s.state(why.root))
			if why.besides != (account.Frame{}) {
				o.Title += " and " + s.state(why.besides)
			}
			o.Happened = s.retries(why.place-1) + of
		} else {
			o.Happened = "Who has it is not known. " + of
		}
		crowd := why.root == (account.Frame{}) && o.Share >= nearlyAll
		if crowd {
			o.Happened = s.atLimit(why.place-1) + "Who has it is not known: nearly all units in progress wait for one, as they do where it was never given back, or where each has one and waits for another. " + of
		}
		o.Remedy = "Hold it for less: take what waits or computes out of it, or divide what it protects. More threads gain nothing."
		if s.areMany(why.place - 1) {
			o.Remedy = "Hold one for less: take what waits or computes out of it; or have more of them. More threads gain nothing."
			if s.retries(why.place-1) != "" {
				o.Remedy += " Who is refused and asks again keeps the crowd as it is: let fewer units begin at a time, by a semaphore around the whole unit."
			}
		}
		if s.isMap(why.place - 1) {
			o.Remedy = "A ConcurrentHashMap holds this while the function of computeIfAbsent, compute or merge runs, for some of its other keys, too. Keep long work out of it: call get() first, or put a future there and complete it outside. Whoever wants the same key waits for its value in any case. More threads gain nothing."
		}
		if s.forces(why.root) || s.forces(why.besides) {
			o.Remedy = "Have one thread force the file for all that wait, and again for those that came meanwhile (group commit): a queue of what is to be written, and a future for each. Or do without force, if the last entries may be lost in a crash of the machine. More threads gain nothing."
		}
		if class := wait.Readable(s.graph.Classes[s.account.Places[why.place-1].Class]); strings.HasSuffix(class, "(fair)") && why.root.State == account.Compute {
			o.Remedy += " Or do without fairness, if the order does not matter: a fair lock goes to whoever waits longest, who has to be woken first, each time."
		}
		if crowd {
			o.Remedy = "Release it in a finally block: an exception before that loses it for good. If a unit takes several: take them at once, or have one more of them than units that can hold one and wait for the next."
		}
	case DoesNotSplit:
		w := s.work(why.holder)
		if why.root != (account.Frame{}) {
			o.Title = fmt.Sprintf("%s does not run in parallel: one part of it takes %s, and %s meanwhile", holder, units.FormatNs(w.longest), s.state(why.root))
			o.Happened = fmt.Sprintf("It is %s, in which the pool has nothing else to do. %s", text.PluralExact(int64(w.units), "part", "parts"), of)
			o.Remedy = unsplit(holder)
			return
		}
		o.Title = fmt.Sprintf("%s does not run in parallel: one part has %s of the work", holder, units.FormatPercent(w.largest()))
		o.Happened = fmt.Sprintf("Of %s the largest computes for %s while CPUs are idle. %s", text.PluralExact(int64(w.units), "part", "parts"), units.FormatNs(w.most), of)
		if w.units == 1 {
			o.Happened = fmt.Sprintf("It is one part, which computes for %s while CPUs are idle. %s", units.FormatNs(w.most), of)
		}
		o.Remedy = unsplit(holder)
	case Uneven:
		w := s.work(why.holder)
		if why.place != 0 {
			o.Title = fmt.Sprintf("%s waits for %s until another %s has computed, while CPUs are idle", o.Victim, s.place(why.place-1), holder)
			o.Happened = fmt.Sprintf("The longest of %s computes for %s in all, one on average for %s. %s", text.PluralExact(int64(w.units), "unit", "units"), units.FormatNs(w.most), units.FormatNs(w.cpuNs/units.Ns(max(1, w.units))), of)
			if why.root != (account.Frame{}) {
				o.Title = fmt.Sprintf("%s waits for %s until another %s is there, which %s", o.Victim, s.place(why.place-1), holder, s.state(why.root))
				o.Happened = of
			}
			o.Remedy = "Everyone waits for the slowest. Divide the work of each step more evenly, or into more parts than there are threads, which take the next part when they are free."
			return
		}
		o.Title = fmt.Sprintf("%s waits for the last and longest of several %s, which computes while CPUs are idle", o.Victim, holder)
		o.Happened = fmt.Sprintf("The longest of %s computes for %s, one on average for %s. %s", text.PluralExact(int64(w.units), "unit", "units"), units.FormatNs(w.most), units.FormatNs(w.cpuNs/units.Ns(max(1, w.units))), of)
		o.Remedy = "Cut the long ones into parts, or submit them first: what begins last has no other work beside it."
	case FullQueue:
		o.Title = fmt.Sprintf("%s waits for %s", s.graph.Classes[why.worker], s.place(why.place-1))
		if o.Happened = of; why.root != (account.Frame{}) {
			o.Title += fmt.Sprintf(": %s, which empties it, %s", holder, s.state(why.root))
		}
		o.Remedy = "Let what empties the queue take several elements at once (drainTo), do less for each, or be more threads. A longer queue only helps with bursts."
		if idle := s.idleAt(why.holder, why.place-1); idle >= leastIdle {
			o.Happened = fmt.Sprintf("%s itself waits for an element for %s of its time: one of the two works in bursts, for which the queue is too short. %s", holder, units.FormatPercent(idle), of)
			o.Remedy = "Make the queue as long as a burst, so that both work at the same time. Beyond that only more threads that empty it help, or less to do for each element."
		}
	case InRounds:
		w := s.work(why.holder)
		o.Title = fmt.Sprintf("%s submits %s in rounds, and waits for the last of each round before it submits the next", s.graph.Classes[why.worker], holder)
		o.Happened = fmt.Sprintf("The last one of a round, which takes at least twice as long as those beside it on average, keeps the other workers of %s idle. %s", s.executor(w.mostly()), of)
		o.Remedy = "If a round does not need the results of the one before, submit all at once, or the next unit as each ends (CompletionService), not the next round when all have ended."
	case OneByOne:
		if w := s.work(why.holder); why.worker == why.holder {
			o.Title = fmt.Sprintf("%s forks others, and one runs at a time", holder)
			o.Happened = fmt.Sprintf("Its %s units run one after another in %s, which has %s, as where join() follows fork() directly: the other workers have nothing to do. %s",
				units.FormatExact(int64(w.units)), s.executor(w.mostly()), s.workers(w.mostly()), of)
			o.Remedy = "Fork one half, compute the other, and only then join; or use invokeAll."
			return
		}
		if why.worker == 0 {
			o.Title = fmt.Sprintf("Each %s is submitted by the one before, at its end, and %s", holder, s.state(why.root))
			e := s.work(why.holder).mostly()
			o.Happened = fmt.Sprintf("Its %s units run one after another in %s, which has %s. %s", units.FormatExact(int64(s.work(why.holder).units)), s.executor(e), s.workers(e), of)
			if s.resubmits(why.holder) {
				o.Title = fmt.Sprintf("%s, which submits itself again at its end, %s: its runs are one after another", holder, s.state(why.root))
				o.Remedy = "That is what an actor or a loop on a pool does; more workers gain nothing. Divide what it handles among several, as by a key, if that need not stay in order or apart."
				return
			}
			o.Remedy = "If they do not need each other's results, start all of them and wait for all (CompletableFuture.allOf), instead of chaining them (thenCompose)."
			return
		}
		submitter, e := s.graph.Classes[why.worker], s.work(why.holder).mostly()
		o.Title = fmt.Sprintf("%s submits one %s at a time, and waits for its end before it submits the next", submitter, holder)
		o.Happened = fmt.Sprintf("At most one runs at once: the other workers of %s have nothing to do. %s", s.executor(e), of)
		o.Remedy = "If they do not need each other's results, submit all of them, and wait afterwards: first collect the futures in a list. A stream that submits and joins is lazy: it joins each element before it submits the next."
	case InOrder:
		w := s.work(why.worker)
		o.Title = fmt.Sprintf("%s waits for %s, which %s, while others that it submitted later have ended", s.graph.Classes[why.worker], holder, s.state(why.root))
		o.Happened = fmt.Sprintf("It waits for them in the order in which it submitted them, and then computes for %s itself. %s", units.FormatNs(w.cpuNs/units.Ns(max(1, w.units))), of)
		o.Remedy = "If it handles each result by itself, take them as they end (ExecutorCompletionService, or a stage for each, such as thenAccept): it then computes while it waits for the last."
	case Order:
		pool := s.pool(why.executor)
		o.Title = fmt.Sprintf("%s waits in %s behind units of %s that were handed over later", o.Victim, pool, holder)
		happened, remedy := s.order(why.executor)
		o.Happened, o.Remedy = happened+" "+of, remedy
	case Overrun:
		o.Title = fmt.Sprintf("%s takes longer than its period", holder)
		o.Happened = "A run begins only when the one before it has ended: each is later than the one before. " + of
		o.Remedy = "A longer period or a shorter run; or let the periodic task only hand the work to a pool, if runs may overlap."
	case BlockedServer:
		if why.root.State == account.Runs {
			if why.executor == 0 {
				o.Title = fmt.Sprintf("%s runs each %s itself, one after the other, for %s of its time", o.Victim, holder, units.FormatPercent(o.Share))
				o.Happened = "Whatever arrives meanwhile has to wait for this one thread." + s.sleepsIn(why.holder)
				o.Remedy = "Give it an executor to run them on (HttpServer.setExecutor, for example), or hand what takes long to a pool."
				return
			}
			o.Title = fmt.Sprintf("%s, which hands units over, runs %s itself for %s of its time", o.Victim, holder, units.FormatPercent(o.Share))
			o.Happened = fmt.Sprintf("Most of these run on %s, which has %s. ", s.executor(why.executor), s.workers(why.executor))
			if e := s.graph.Given[why.executor]; e != nil && e.Bound > 0 && e.Bound < math.MaxInt32 {
				o.Happened += fmt.Sprintf("Its queue holds %s: what does not fit runs in the thread that hands it over, as by CallerRunsPolicy. ", units.FormatExact(int64(e.Bound)))
			}
			o.Happened += "What comes to this thread meanwhile waits."
			o.Remedy = "Give that pool a longer queue or more workers, and reject what still does not fit: a thread that submits for all should run nothing itself."
			return
		}
		o.Title = fmt.Sprintf("%s handles on one thread what others give it, and %s there", o.Victim, s.state(why.root))
		o.Remedy = "Run what waits on a pool: of a CompletableFuture, the stages after it by their Async forms with an executor (thenApplyAsync); of an event loop, what a handler waits for."
	case Polling:
		o.Title = fmt.Sprintf("%s polls for the end of units that it submitted, and sleeps%s in between", holder, s.at(why.place-1))
		o.Happened = "It continues when a sleep ends, some time after they have. " + of
		o.Remedy = "Wait for the end itself: Future.get(), Thread.join(), a CountDownLatch, or a stage of a CompletableFuture. A shorter sleep costs CPU time instead."
	case Unanswered:
		if wait.HoldsElements(s.graph.Classes[s.account.Places[why.place-1].Class]) {
			o.Title = fmt.Sprintf("%s waits for %s until its time limit, and none comes", holder, s.place(why.place-1))
			pool := "Return each in a finally block; and if a unit takes several, take them at once, or have one more of them than units that can hold one and wait for the next."
			if class := s.graph.Classes[s.account.Places[why.place-1].Class]; wait.Readable(class) == "SynchronousQueue" { // from hand to hand, as pools of connections do
				o.Happened = s.atLimit(why.place-1) + "Nobody gave one back: perhaps each unit has one and waits for another, or they were not given back. " + of
				o.Remedy = pool + " If elements should come from elsewhere, look for who should hand them over."
				return
			}
			o.Happened = s.atLimit(why.place-1) + "Nobody was seen to put one in. " + of
			o.Remedy = "Do not ask a queue that stays empty, ask with a shorter limit, or ask several at the same time; if elements should come, look for who should put them in. If it is a pool, as of connections: " +
				strings.ToLower(pool[:1]) + pool[1:]
			return
		}
		if s.account.Places[why.place-1].Kind == "notify" {
			o.Title = fmt.Sprintf("%s waits for %s until its time limit, and nobody notifies it", holder, s.place(why.place-1))
			o.Happened = s.atLimit(why.place-1) + "It then continues, as if what it waits for had happened meanwhile. " + of
			o.Remedy = "Look for who should notify it: notifyAll(), in the same monitor, when what it waits for has changed. If it is only to pause, nothing is wrong."
			if strings.HasPrefix(s.graph.Classes[s.account.Places[why.place-1].Class], "java.io.Piped") {
				o.Remedy = "Call flush() after writing: the reader of a pipe looks once a second for what was written and not flushed."
			}
			return
		}
		o.Title = fmt.Sprintf("%s waits for %s until its time limit: nobody is there to end that", holder, s.place(why.place-1))
		o.Happened = "All that it had submitted had ended, and nothing else that ends such waits was in progress. " + s.thrownAway(why.holder) + of
		o.Remedy = "Look for who should have ended it: a task that failed before it counted down or completed, that was refused, cancelled or never submitted. Count down, or complete, in a finally block; exceptions and refused tasks are in shadow stats."
	case Crowded:
		w := s.work(o.why.victim)
		o.Title = fmt.Sprintf("%s waits for a CPU while %s computes on %s", o.Victim, holder, allCPUs(s.CPUs))
		o.Happened = fmt.Sprintf("A unit computes for %s itself. %s", units.FormatNs(w.cpuNs/units.Ns(max(1, w.units))), of)
		switch n := s.count(why.executor); {
		case s.graph.Executors[why.executor].Leaves:
			o.Remedy = fmt.Sprintf("A virtual thread keeps its carrier while it computes. Run %s on a pool of platform threads, which the system lets take turns, or cut it into shorter units.", holder)
		case n > s.CPUs:
			o.Remedy = fmt.Sprintf("If these must end soon: run %s on no more threads than there are CPUs (%d), or one fewer; %s has %d.", holder, s.CPUs, s.executor(why.executor), n)
		default:
			o.Remedy = fmt.Sprintf("If these must end soon: run %s on fewer threads than there are CPUs, or cut it into shorter units.", holder)
		}
	case FineGrained:
		s.describeFine(o, why, of)
	case SlowProducer:
		w, e := s.work(why.holder), why.executor
		o.Title = fmt.Sprintf("The workers of %s wait for %s, which hands them their units", s.executor(e), holder)
		o.Happened = fmt.Sprintf("It submits %s and computes for %s between the first and the last. The workers are in units for %s of the time. %s", text.PluralExact(int64(s.feeds(why.holder).units), "unit", "units"),
			units.FormatNs(w.between), units.FormatPercent(s.inProgress(e)/float64(max(1, s.workersOf(e)))), of)
		o.Remedy = "Do less in that thread, or divide its work among tasks if its order does not matter. Larger units or more workers do not help."
	case ThreadChurn:
		if e := why.executor; e != 0 {
			x := s.likes(e)
			o.Title = fmt.Sprintf("%s starts a thread for almost every unit", s.executor(e))
			o.Happened = fmt.Sprintf("It had %s for %s. %s", text.PluralExact(int64(x.threads), "thread", "threads"), text.PluralExact(int64(x.units), "unit", "units"), of)
			o.Remedy = "Give it a core size or a longer keep-alive time, so that it reuses its threads."
			if x.list > 1 {
				o.Title = fmt.Sprintf("New executors are created repeatedly, each with threads of its own: %s", s.executor(e))
				o.Happened = fmt.Sprintf("%s had %s for %s. %s", text.PluralExact(int64(x.list), "executor", "executors"), text.PluralExact(int64(x.threads), "thread", "threads"), text.PluralExact(int64(x.units), "unit", "units"), of)
				o.Remedy = "Create one executor, share it, and shut it down at the end: it reuses its threads."
			}
			return
		}
		w := s.work(why.holder)
		o.Title = fmt.Sprintf("A thread is started for each %s", holder)
		o.Happened = fmt.Sprintf("%s started for it. A unit computes for %s on average. %s", text.PluralExact(int64(w.started), "thread was", "threads were"), units.FormatNs(w.cpuNs/units.Ns(max(1, w.units))), of)
		o.Remedy = "Submit the tasks to a pool, which reuses its threads. Tasks that wait for one another need one thread each."
	case TooLarge:
		n := s.workersFor(why.executor)
		o.Title = fmt.Sprintf("%s has more workers than keep the CPUs busy", s.pool(why.executor))
		o.Happened = fmt.Sprintf("Its %s share %s: they take turns, and the others only cost memory and context switches. %s", s.workers(why.executor), text.PluralExact(int64(s.CPUs), "CPU", "CPUs"), of)
		o.Remedy = fmt.Sprintf("Give it %s, unless its tasks wait for one another: with fewer workers these can deadlock.", text.PluralExact(int64(n), "worker", "workers"))
		if n > s.CPUs {
			o.Remedy += fmt.Sprintf(" That is more than one for each of the %d CPUs because its tasks also wait for something else.", s.CPUs)
		}
		if strings.Contains(s.executor(why.executor), "CompletableFuture$ThreadPerTaskExecutor") {
			o.Remedy = "Pass an executor to supplyAsync, runAsync and similar methods: without one they start a thread for each task where the common pool has fewer than two workers."
		}
	case Collection:
		o.Title = fmt.Sprintf("%s %s", o.Victim, s.stopped(why.root.On))
		o.Happened = of
		o.Remedy = "See shadow gc for what ran and why."
		if s.graph.Pauses[why.root.On] == sessiongraph.Safepoint {
			o.Remedy = "Such a stop holds all threads. Look for whoever takes thread dumps (ThreadMXBean.dumpAllThreads, Thread.getAllStackTraces), asks for heap histograms or changes classes, and do it less often. -Xlog:safepoint names each stop."
		}
	}
}

// stopped says what stops a thread, by its number among the reasons of pauses.
func (s *Session) stopped(on uint32) string {
	switch why := s.graph.Pauses[on]; why {
	case sessiongraph.Safepoint:
		return "is stopped by the JVM at safepoints other than collections"
	case sessiongraph.Stall:
		return "waits for the collector, which does not stop the program"
	case "", sessiongraph.Unnamed:
		return "is stopped by the collector"
	default:
		return "is stopped by the collector (" + why + ")"
	}
}

// forces reports whether a unit waits until a file is on the disk.
func (s *Session) forces(f account.Frame) bool {
	return f.State == account.IO && int(f.On) < len(s.account.Places) && s.graph.Classes[s.account.Places[f.On].Class] == wait.Forced
}

// leastIdle is the share of its time for which what empties a full queue must wait for elements for the queue to be too short.
const leastIdle = 0.2

// idleAt is the share of the response times of a class that its units wait for an element of a queue of the class of that at a place.
func (s *Session) idleAt(class, place uint32) float64 {
	c, n, queue := s.classOf(class), units.Ns(0), s.account.Places[place].Class
	if c == nil {
		return 0
	}
	for _, p := range c.Parts {
		if p.State == account.Handed && !s.account.Places[p.On].Room && s.account.Places[p.On].Class == queue {
			n += p.Ns
		}
	}
	return share(n, c.Response)
}

// resubmits reports whether most units of a class are tasks that submit themselves again.
func (s *Session) resubmits(class uint32) bool {
	w := s.work(class)
	return 2*w.again > w.units
}

// atLimit says how many waits at a place ended at their time limit; "": none.
func (s *Session) atLimit(place uint32) string {
	at := s.placeSum(place)
	if at.limit == 0 {
		return ""
	}
	return fmt.Sprintf("%s of %s waits for it ended at their time limit. ", units.FormatExact(int64(at.limit)), units.FormatExact(int64(at.waits)))
}

// inStage reports whether a unit sleeps or waits for input in a stage that runs where its future is completed.
func (s *Session) inStage(f account.Frame) bool {
	return (f.State == account.Sleep || f.State == account.IO) && int(f.On) < len(s.account.Places) && s.account.Places[f.On].Stage
}

// areMany reports whether there may be several of what is waited for at a place: permits, or elements of a pool.
func (s *Session) areMany(place uint32) bool {
	class := s.graph.Classes[s.account.Places[place].Class]
	return strings.HasPrefix(wait.Readable(class), "Semaphore") || wait.HoldsElements(class)
}

// describeInside writes the sentences about waits inside the JVM.
func (s *Session) describeInside(o *Obstacle, why cause, of string) {
	if why.init != "" {
		o.Title = fmt.Sprintf("%s waits until %s is initialised", o.Victim, wait.Readable(why.init))
		o.Happened = "The JVM lets one thread run the initialiser of a class, and the others that use the class wait. " + of
		if why.root != (account.Frame{}) {
			o.Title += fmt.Sprintf(", by %s, which %s", s.graph.Classes[why.holder], s.state(why.root))
		}
		o.Remedy = "Take what waits or computes long out of the static initialiser, or have the class initialised before it is needed. More threads gain nothing."
		return
	}
	o.Title = fmt.Sprintf("%s waits inside the JVM for another thread", o.Victim)
	if why.root != (account.Frame{}) {
		o.Title = fmt.Sprintf("%s waits inside the JVM for %s, which %s", o.Victim, s.graph.Classes[why.holder], s.state(why.root))
	}
	o.Happened = "It is in no lock, park, sleep or I/O of Java meanwhile, as where another thread runs the initialiser of a class. " + of
	o.Remedy = "Load what a static initialiser loads before it is needed, or outside of it. More threads gain nothing."
}

// describeKept writes the sentences about carriers that virtual threads keep while they wait.
func (s *Session) describeKept(o *Obstacle, why cause, of string) {
	in, does := s.graph.Classes[why.worker], "waits for something that is not known"
	if at := why.root.On; at != 0 {
		does = s.state(account.Frame{State: account.Sleep, On: at})
		if s.account.Places[at].Kind == "io" {
			does = s.state(account.Frame{State: account.IO, On: at})
		}
	}
	if why.worker != why.holder {
		does = fmt.Sprintf("waits for %s, which %s", s.graph.Classes[why.holder], does)
	}
	o.Title = fmt.Sprintf("%s waits for a carrier, which virtual threads in %s keep: it %s", o.Victim, in, does)
	o.Happened = fmt.Sprintf("There are %d carriers. %s", s.count(why.executor), of)
	o.Remedy = "A virtual thread keeps its carrier while it waits inside a native frame or the initialiser of a class, or for one; before JDK 24 inside synchronized, too. Load what the initialiser loads beforehand, or let it wait outside of these."
}

// depend says how much of the response times depend on an obstacle.
func (s *Session) depend(o *Obstacle) string {
	each := ""
	for i := range s.account.Classes {
		if c := &s.account.Classes[i]; c.Class == o.why.victim && c.Units > 1 {
			each = fmt.Sprintf(" of %s in all, %s each", units.FormatNs(c.Response), units.FormatNs(c.Response/units.Ns(c.Units)))
			if s.isTimed(c.Class) {
				each += " from when it is due to its end"
			}
		}
	}
	return fmt.Sprintf("%s of the response times of %s (%s%s) depend on this.", units.FormatPercent(o.Share), o.Victim, units.FormatNs(o.Ns), each)
}

func (s *Session) describeInflation(o *Obstacle, x *account.Inflation) {
	o.Title = fmt.Sprintf("%s takes %.1f times as much CPU time when others compute meanwhile", o.Victim, float64(x.Beside)/float64(max(1, x.Alone)))
	o.Happened = fmt.Sprintf("A unit computes for %s while another unit computes, and for %s alone (means of %d and %d). That is CPU time, not waiting: each does more work, or its memory is slower. %s",
		units.FormatNs(x.Beside), units.FormatNs(x.Alone), x.Of[1], x.Of[0], s.depend(o))
	o.Remedy = "Look for what the units change in common, such as an atomic counter or the seed of one java.util.Random: give each thread its own (ThreadLocalRandom, LongAdder). Else they need more memory bandwidth or cache than there is. More threads gain nothing."
}

// count is how many workers an executor has.
func (s *Session) count(executor uint32) int {
	if int(executor) < len(s.graph.Executors) {
		return s.graph.Executors[executor].Workers
	}
	return 0
}

// allCPUs names all CPUs of a machine.
func allCPUs(n int) string {
	switch n {
	case 1:
		return "the CPU"
	case 2:
		return "both CPUs"
	}
	return fmt.Sprintf("all %d CPUs", n)
}

// atOnce is how many workers an executor has at a time: those of the common pool end when idle, and others take their place.
func (s *Session) atOnce(executor uint32) int {
	n := s.count(executor)
	if e := s.graph.Given[executor]; e != nil && e.Maximum > 0 && s.isCommon(executor) {
		n = min(n, int(e.Maximum))
	}
	return n
}

// keepsOrder is what more workers than one may break.
const keepsOrder = " A single worker also keeps units in order and apart: only if they do not rely on that."

func verb(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

func (s *Session) workers(executor uint32) string {
	return text.PluralExact(int64(s.atOnce(executor)), "worker", "workers")
}

// Text says in a sentence what most of the time depends on.
func (b *Bound) Text() string {
	if !b.Known {
		return strings.TrimSuffix(fmt.Sprintf("It is not known what %s of the time of %s depends on: %s", units.FormatPercent(b.Share), b.Class, b.What), ": ") + "."
	}
	return fmt.Sprintf("%s of the time of %s depends on this: %s.", units.FormatPercent(b.Share), b.Class, b.What)
}

// boundText says what the time of a class depends on if nothing stands in its way.
func (s *Session) boundText(victim string, why cause, wanted float64) string {
	class := s.graph.Classes[why.holder]
	switch why.kind {
	case cpuBound, Crowded, TooLarge:
		return fmt.Sprintf("%s computes while %s %s in use%s%s%s", class, allCPUs(s.CPUs), verb(s.CPUs, "is", "are"), s.mostlyAt(class), s.few(why.holder), s.alsoComputes(why.holder))
	case serial:
		return fmt.Sprintf("one after another: %s computes while %.1f of %d CPUs are used%s%s", class, wanted, s.CPUs, s.mostlyAt(class), s.few(why.holder))
	case own:
		return fmt.Sprintf("%s %s%s%s%s", class, s.state(why.root), s.howLong(why.root), s.again(why.holder, why.root), s.refused(why.holder))
	case sized:
		return fmt.Sprintf("all %d workers of %s are in %s, which %s; more workers help, or a virtual thread for each task, if what they wait for can serve more at a time", s.count(why.executor), s.executor(why.executor), class, s.state(why.root))
	case taking:
		return s.takingText(why)
	case starting:
		return "threads are being started"
	case idle:
		return fmt.Sprintf("units wait in %s although one of its workers has nothing to do: it is woken late, or they wait for another one", s.executor(why.executor))
	case otherLoads:
		return "other programs, or threads of the JVM, have the CPUs"
	case BlockedServer:
		return class + " sleeps while others wait for it"
	case WaitsForItself, Occupied, FewWorkers, OneOfMany, Batched, Uneven, FullQueue, InRounds, OneByOne, Order, Overrun, Held, HoldAndWait, Unanswered: // no change of it gains anything
		o := Obstacle{Victim: victim}
		s.describe(&o, why)
		return o.Title
	case Polling:
		return class + " sleeps on" + s.at(why.place-1) + " although what it polls for has ended"
	case Collection:
		if s.graph.Pauses[why.root.On] == sessiongraph.Safepoint {
			return "safepoints other than collections stop the program"
		}
		return "the collector stops the program"
	}
	return ""
}

// unknown is the wait that most of what is not known begins with; "": there is none.
func (s *Session) unknown(w *weight) string {
	most := account.Frame{}
	for _, f := range slices.SortedFunc(maps.Keys(w.asked), compareFrames) {
		if w.asked[f] > w.asked[most] {
			most = f
		}
	}
	if 2*w.asked[most] < w.n {
		return ""
	}
	return s.graph.Classes[most.Class] + " " + s.state(most)
}

func compareFrames(x, y account.Frame) int {
	return cmp.Or(cmp.Compare(x.State, y.State), cmp.Compare(x.Class, y.Class), cmp.Compare(x.On, y.On))
}

// shared reports whether an executor runs units of several classes.
func (s *Session) shared(executor uint32) bool {
	s.readWork()
	return s.runs[executor] > 1
}

// How many samples of a class say where it computes, and the share of them that must have one place for it to be named.
const (
	leastSamples = 10
	mostlyAt     = 0.3
)

// mostlyAt names where a class was seen to compute most; "": nowhere in particular, or there are few samples. They are taken where the JVM can stop a thread.
func (s *Session) mostlyAt(class string) string {
	lines, methods, callers, all := map[string]int64{}, map[string]int64{}, map[string]int64{}, int64(0)
	for place, n := range s.graph.Computing[class] {
		all += n
		if place != "" {
			lines[place] += n
			methods[method(place)] += n
			_, near, called := strings.Cut(place, sessiongraph.CalledAt)
			if !called {
				near = place
			}
			callers[method(near)+" and what it calls"] += n
		}
	}
	for _, by := range []map[string]int64{lines, methods, callers} {
		if at := most(by); all >= leastSamples && float64(by[at]) >= mostlyAt*float64(all) && at != "" {
			return fmt.Sprintf(", mostly in %s (%s of %s samples)", at, units.FormatPercent(float64(by[at])/float64(all)), units.FormatExact(all))
		}
	}
	return ""
}

// Few units have most of the work if one in fewOf has mostOfWork of what the class computes. Of a class with fewer units than leastUnits nothing is said.
const (
	fewOf       = 50
	mostOfWork  = 0.5
	likeLongest = 5 // the few take at least one in that many of what the longest takes
	leastUnits  = 100
)

// few says that few units of a class compute most of what it does; "": they do not.
func (s *Session) few(class uint32) string {
	g := s.graph.Graph
	if s.work(class).units < leastUnits {
		return ""
	}
	var each []units.Ns
	for i := range g.Units {
		if g.Units[i].Class != class {
			continue
		}
		n := units.Ns(0)
		for _, x := range g.StepsOf(i) {
			if x.Kind == graph.Compute {
				n += x.Len
			}
		}
		each = append(each, n)
	}
	slices.SortFunc(each, func(x, y units.Ns) int { return cmp.Compare(y, x) })
	most, least := each[:len(each)/fewOf], each[0]/likeLongest
	if k := slices.IndexFunc(most, func(n units.Ns) bool { return n < least }); k >= 0 { // those that are like the longest
		most = most[:k]
	}
	n := units.Ns(0)
	for _, x := range most {
		n += x
	}
	if part := share(n, s.work(class).cpuNs); part >= mostOfWork {
		return fmt.Sprintf("; %s of its %s units have %s of its CPU time", units.FormatExact(int64(len(most))), units.FormatExact(int64(len(each))), units.FormatPercent(part))
	}
	return ""
}

// method is a place in the program without its line: a long method has many.
func method(place string) string {
	if at := strings.LastIndexByte(place, ':'); at > 0 && !strings.Contains(place, ", ") {
		return place[:at]
	}
	return place
}

// muchCPU is the share of what all units compute from which a class is named that computes beside another one.
const muchCPU = 0.25

// alsoComputes names the class that computes most beside one; "": none computes much.
func (s *Session) alsoComputes(class uint32) string {
	s.readWork()
	all, most, other := units.Ns(0), units.Ns(0), uint32(0)
	for c, w := range s.works {
		if all += w.cpuNs; c != class && (w.cpuNs > most || w.cpuNs == most && c < other) {
			most, other = w.cpuNs, c
		}
	}
	if part := share(most, all); part >= muchCPU {
		return fmt.Sprintf("; %s has %s of the CPU time", s.graph.Classes[other], units.FormatPercent(part))
	}
	return ""
}

// refused says which executor refused most of what the threads of a class submitted; "": none did.
func (s *Session) refused(class uint32) string {
	of := map[string]bool{}
	for i := range s.graph.Graph.Units {
		if u := &s.graph.Graph.Units[i]; u.Class == class && u.Thread != 0 {
			of[s.graph.Threads[u.Thread]] = true
		}
	}
	by := map[uint32]int{}
	for k, n := range s.graph.Refused {
		if of[k.Thread] {
			by[k.Executor] += n
		}
	}
	if len(by) == 0 {
		return ""
	}
	e := most(by)
	return fmt.Sprintf("; %s, which has %s, refused %s of its submissions (RejectedExecutionException)", s.executor(e), s.workers(e), units.FormatExact(int64(by[e])))
}

// thrownAway says that units of a class submitted what never began; "": none did.
func (s *Session) thrownAway(class uint32) string {
	left := s.work(class).left
	if len(left) == 0 {
		return ""
	}
	e := most(left)
	return fmt.Sprintf("%s submitted to %s what never began although a worker had nothing to do: it was discarded, as by DiscardPolicy when the queue is full, or cancelled. ",
		text.PluralExact(int64(left[e]), "unit", "units"), s.executor(e))
}

// How often a class must wait for input at a place for its length to be said, and how long waits are where the other side delays its acknowledgement.
const (
	leastWaits = 20
	leastDelay = 38 * units.Ns(1e6)
	mostDelay  = 50 * units.Ns(1e6)
	mostAlike  = 0.8
)

// howLong says how many waits for input or output there were at a place, and how long they took; "": few, or others.
func (s *Session) howLong(f account.Frame) string {
	if f.State != account.IO || int(f.On) >= len(s.account.Places) {
		return ""
	}
	at := s.placeSum(f.On)
	if at.waits < leastWaits {
		return ""
	}
	said := fmt.Sprintf(" %s times, %s on average", units.FormatExact(int64(at.waits)), units.FormatNs(at.sum/units.Ns(at.waits)))
	if float64(at.delayed) >= mostAlike*float64(at.waits) {
		said += ": nearly all take 40 ms or a little more, which is typical of small writes that wait for a delayed acknowledgement; setTcpNoDelay(true), or one write instead of two, avoids it"
	}
	return said
}

// placeSum sums the waits at a place.
type placeSum struct {
	waits, limit, delayed int // all; those that ended at their time limit; those from leastDelay to mostDelay long
	again                 int // those before which the same unit had waited there up to the time limit
	sum                   units.Ns
}

// placeSum is that of a place. All are read in one pass, when first needed. Locks of one class at one site are one place, whichever object each is.
func (s *Session) placeSum(place uint32) placeSum {
	if s.sums == nil {
		numbers := s.placeNumbers()
		s.sums = make([]placeSum, len(s.account.Places))
		g := s.graph.Graph
		for i := range g.Units {
			before, refused := s.graph.Recorded.Start[i].At, map[int]bool{}
			for k, x := range s.graph.StepsOf(i) {
				end := s.graph.Recorded.End[int(g.Units[i].First)+k].At
				if x.Wait != 0 && !s.graph.Waits[x.Wait].Sum {
					if n := numbers[x.Wait]; n >= 0 {
						if refused[n] {
							s.sums[n].again++
						}
						refused[n] = s.sums[n].add(&x, end-before)
					}
				}
				before = end
			}
		}
		for k, x := range s.graph.Sums {
			if n := numbers[k.Wait]; n >= 0 {
				s.sums[n].waits, s.sums[n].sum = s.sums[n].waits+int(x.Waits), s.sums[n].sum+x.Ns
			}
		}
	}
	return s.sums[place]
}

// placeNumbers are the places of the graph's waits, as indices in account.Places; -1: nothing was counted there.
func (s *Session) placeNumbers() []int {
	numbers, list := map[account.Place]int{}, make([]int, len(s.graph.Waits))
	for n, p := range s.account.Places {
		numbers[p] = n
	}
	for i := range s.graph.Waits {
		n, known := numbers[account.PlaceOf(&s.graph.Waits[i])]
		if list[i] = n; !known {
			list[i] = -1
		}
	}
	return list
}

// add adds a wait, and reports whether it ended at its time limit.
func (p *placeSum) add(x *graph.Step, n units.Ns) (refused bool) {
	p.waits, p.sum = p.waits+1, p.sum+n
	if refused = x.Kind == graph.Outside && (x.Cause == graph.Limit || x.Cause == graph.Poll); refused {
		p.limit++
	}
	if n >= leastDelay && n <= mostDelay {
		p.delayed++
	}
	return refused
}

// retries says how many waits for what several units share ended at their time limit, and how often who waited asked again, if both are many; "": they are not.
func (s *Session) retries(place uint32) string {
	at := s.placeSum(place)
	if !s.areMany(place) || at.limit < leastWaits || float64(at.limit) < leastRefused*float64(at.waits) || 2*at.again < at.limit {
		return ""
	}
	return fmt.Sprintf("%s of %s waits for it ended at their time limit, and %s times the same unit then asked again. ", units.FormatExact(int64(at.limit)), units.FormatExact(int64(at.waits)), units.FormatExact(int64(at.again)))
}

// isMap reports whether units at a place wait for the monitor of a bin of a map, which it holds while it computes a value.
func (s *Session) isMap(place uint32) bool {
	p := &s.account.Places[place]
	return p.Kind == "monitor" && wait.Readable(s.graph.Classes[p.Class]) == "ConcurrentHashMap"
}

// leastRefused is the share of waits that must end at their time limit for it to be said.
const leastRefused = 0.1

// sleepsIn says where units of a class sleep or wait for input for most of their time; "": they do not.
func (s *Session) sleepsIn(class uint32) string {
	for i := range s.account.Classes {
		c := &s.account.Classes[i]
		if c.Class != class || len(c.Parts) == 0 {
			continue
		}
		if p := c.Parts[0]; (p.State == account.Sleep || p.State == account.IO) && share(p.Ns, c.Response) >= mostlyBusy {
			return fmt.Sprintf(" For %s of a unit's time it %s.", units.FormatPercent(share(p.Ns, c.Response)), s.state(p.Frame))
		}
	}
	return ""
}

// takingText says how the workers of a pool go from one unit to the next.
func (s *Session) takingText(why cause) string {
	s.readFineness()
	f := s.fine[s.family(why.executor)]
	return fmt.Sprintf("the workers of %s take the next unit, for which one computes or waits for a lock for %s, the profiler's probes included, for %s in a unit of %s",
		s.executor(why.executor), units.FormatNs(f.took/units.Ns(max(1, f.units()))), units.FormatNs(f.work/units.Ns(max(1, f.units()))), s.graph.Classes[why.holder])
}
