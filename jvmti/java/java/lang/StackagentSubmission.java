package java.lang;

import static java.lang.StackagentLayout.*;

import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;

import jdk.internal.misc.Unsafe;
import jdk.internal.vm.annotation.ForceInline;
import jdk.internal.vm.annotation.Hidden;
import jdk.internal.vm.annotation.Stable;

/**
 * The probes of submissions: a task goes to an executor. The rules of {@link Stackagent} hold here
 * too. The time of the latest submission is in the task, in a field {@code stackagent$submitted}
 * beside its id, so a queue time needs no other record. An executor has its id in a field {@code
 * stackagent$executor} of the topmost executor class. Each class keeps the offset of that field in
 * {@code ClassValue.ClassValueMap}, field {@code stackagent$executors}.
 */
public final class StackagentSubmission {
    private static final Unsafe U = Unsafe.getUnsafe();
    private static final long CLASS_VALUES = U.objectFieldOffset(Class.class, "classValueMap");

    /** -1: there is no such field, because of submissions=false or an attach. */
    private static final long EXECUTOR_CLASS = Stackagent.offset(ClassValue.ClassValueMap.class, "stackagent$executors");

    /** In the time that submit0 returns: a submission of the same task is under way. */
    private static final long INSIDE = Stackagent.AGAIN;

    /** How many wrappers of an exception are looked into. */
    private static final int MOST_CAUSES = 8;

    /** Where a TimerTask keeps when it is due; -1: this JDK has no such field; 0: no Timer has fired yet. */
    private static long timerDue;

    /**
     * Instead of site and depth: the method has not called anything with a site. No site has this
     * number.
     */
    private static final int NOT_CALLING = -1;

    /** By site: whether the objects made there are tasks. */
    @Stable
    private static final byte[] VERDICTS = new byte[1 << 16];
    private static final byte TASK = 1;
    private static final byte NO_TASK = 2;

    /** Any class may be a task by task=. */
    private static boolean customTasks;

    private StackagentSubmission() {}

    /** At the start of an executor's method that takes a task; the token goes to the other two probes. */
    @ForceInline
    @Hidden
    public static int submitting(Object executor, Object task) {
        return task == null || Stackagent.isScheduling(task) ? -1 : submit(executorId(executor), task, 0);
    }

    /** Like submitting, for a task that is to run later, or repeatedly. */
    @Hidden
    public static int scheduling(Object executor, Object task) {
        return task == null || Stackagent.isScheduling(task) ? -1 : submit(executorId(executor), task, SCHEDULED);
    }

    /** At the start of a scheduler's method that queues a periodic task again. */
    @Hidden
    public static int repeating(Object executor, Object task) {
        return task == null ? -1 : submit(executorId(executor), task, SCHEDULED | INNER);
    }

    /** At the start of ForkJoinTask.fork(). */
    @ForceInline
    @Hidden
    public static int forking(Object task) {
        Thread t = Thread.currentThread();
        long mark = Stackagent.BYTECODES ? Stackagent.mark() : 0;
        ForkJoinPool pool = t instanceof ForkJoinWorkerThread ? ((ForkJoinWorkerThread) t).getPool() : ForkJoinPool.commonPool();
        if (Stackagent.BYTECODES) {
            Stackagent.reset(mark); // the library's methods count their own instructions
        }
        return submit(pool == null ? 0 : executorId(pool), task, FORKED);
    }

    /** At the start of the methods that start a thread. */
    @Hidden
    public static int starting(Object thread) {
        return submit(0, thread, STARTED);
    }

    @ForceInline
    @Hidden
    private static int submit(int executor, Object task, int flags) {
        if (!Stackagent.on) {
            return -1;
        }
        Class<?> c = task.getClass();
        long info = Stackagent.known(c);
        if (info == 0) {
            info = Stackagent.describe0(c);
        }
        Thread t = Thread.currentThread();
        Stackagent slot = Stackagent.slot(t);
        long context = slot.context;
        if (context == 0) {
            context = Stackagent.attach(t);
            if (context == 0) {
                lost0(0);
                return -1;
            }
        }
        Object holder = task;
        long offset = info & Stackagent.OFFSET;
        long submitted = info >>> Stackagent.SUBMITTED_SHIFT & Stackagent.SUBMITTED_OFFSET;
        if (offset == Stackagent.IN_SLOT) {
            holder = Stackagent.slot((Thread) task);
            offset = Stackagent.SLOT_ID;
            submitted = Stackagent.SLOT_SUBMITTED;
        }
        int classId = (int) (info >>> 32);
        if (offset == 0) {
            if (!submitBare0(context, System.identityHashCode(task), classId, executor, flags)) {
                return -1;
            }
            traced(slot, context);
            return token(context);
        }
        long id = U.getLong(holder, offset);
        boolean executed = id < 0;
        id &= ~Stackagent.EXECUTED;
        boolean unseen = id < Stackagent.firstId;
        if (unseen) {
            id = Stackagent.adopt(holder, offset, submitted);
            if (id == 0) {
                lost0(context); // if anything is recorded
                return -1;
            }
        }
        boolean counted = count(context, id, classId, executor, flags);
        long at = counted ? now0() : submit0(context, id, classId, executor, flags);
        if (at == 0) {
            return -1; // inside a submission of the same task to the same executor, or nothing is recorded
        }
        if (submitted != 0) {
            long before = U.getLong(holder, submitted);
            long which = unseen ? Stackagent.UNSEEN : before != 0 || executed ? which(before, executed, at) : 0;
            U.putLong(holder, submitted, at & Stackagent.TIME | which | ((flags & SCHEDULED) != 0 ? Stackagent.SCHEDULED_TIME : 0));
        }
        if (!counted) {
            traced(slot, context);
        }
        return token(context);
    }

    /** Notes the current span of a submission that is recorded. */
    @ForceInline
    @Hidden
    private static void traced(Stackagent slot, long context) {
        StackagentTrace trace = slot.trace;
        if (trace != null) {
            try {
                trace.submitting(context);
            } catch (Throwable noStack) { // the submission has begun, and ends by its token
            }
        }
    }

    /** The flags of a submission that is not the task's first. before: its previous one; at: of submit0. */
    @Hidden
    private static long which(long before, boolean executed, long at) {
        long flags = before & (Stackagent.UNSEEN | Stackagent.AGAIN | Stackagent.SEVERAL);
        if ((at & INSIDE) != 0) {
            return flags; // an executor hands it on to another one
        }
        boolean waits = (before & Stackagent.TIME) != 0
                && (!executed || flags != 0 || (before & Stackagent.SCHEDULED_TIME) != 0);
        return waits ? Stackagent.SEVERAL : executed ? Stackagent.AGAIN : 0;
    }

    /**
     * The submission of an execution that is not the task's first one; 0: nobody submitted it since. at: what
     * the task carries.
     */
    @Hidden
    static long take(Object holder, long submitted, long at) {
        for (;;) {
            if ((at & (Stackagent.UNSEEN | Stackagent.AGAIN)) == 0) {
                return (at & (Stackagent.SEVERAL | Stackagent.SCHEDULED_TIME)) == 0 ? 0 : at;
            }
            // The first execution of a task whose creation was not seen reports that, and takes its submission.
            long taken = at < 0 ? at & ~Stackagent.UNSEEN : at & Stackagent.CANCELLED;
            if (U.compareAndSetLong(holder, submitted, at, taken)) {
                return at;
            }
            at = U.getLongVolatile(holder, submitted);
        }
    }

    /** The token of the submission that began last. */
    @ForceInline
    @Hidden
    private static int token(long context) {
        return Stackagent.TOKENS + U.getInt(null, context + SUBMISSIONS_OPEN) - 1;
    }

    /** The number of the submission with that token among the thread's open ones; -1: it is not open. */
    @ForceInline
    @Hidden
    private static int open(long context, int token) {
        int number = token - Stackagent.TOKENS;
        return context != 0 && number >= 0 && number < U.getInt(null, context + SUBMISSIONS_OPEN) ? number : -1;
    }

    /**
     * Counts a submission like submit0, if the thread summarises submissions of the class and this one
     * is in no other. Then only the time needs a native call.
     */
    @ForceInline
    @Hidden
    private static boolean count(long context, long id, int classId, int executor, int flags) {
        if ((flags & INNER) != 0) {
            return false;
        }
        long os = Stackagent.begin(context, classId, CELL_COUNTS_SUBMISSIONS);
        if (os == 0) {
            return false;
        }
        boolean outermost = U.getInt(null, context + SUBMISSIONS_OPEN) == 0;
        if (outermost) {
            int depth = U.getInt(null, context + DEPTH);
            int calling = U.getInt(null, context + CALLING_AT);
            int site = calling >>> CALLING_DEPTH_SHIFT == (depth & SITE) ? calling & SITE : 0;
            long cell = Stackagent.cell(context, classId);
            long count = Stackagent.siteCount(cell + CELL_SUBMITTED_AT, site);
            if (count == 0) { // submit0 caches it
                Stackagent.end(os);
                return false;
            }
            U.putLong(null, context + FIRST_SUBMISSION + SUBMISSION_TASK, id);
            U.putInt(null, context + FIRST_SUBMISSION + SUBMISSION_CLASS, classId);
            U.putInt(null, context + FIRST_SUBMISSION + SUBMISSION_EXECUTOR, executor);
            U.putInt(null, context + FIRST_SUBMISSION + SUBMISSION_SITE, site);
            U.putInt(null, context + FIRST_SUBMISSION + SUBMISSION_DEPTH, depth);
            U.putByte(null, context + FIRST_SUBMISSION + SUBMISSION_FLAGS, (byte) flags);
            U.putInt(null, context + SUBMISSIONS_OPEN, 1);
            Stackagent.add(os + OS_SUBMISSIONS);
            Stackagent.add(cell + CELL_SUBMISSIONS);
            Stackagent.countAt(count);
        }
        Stackagent.end(os);
        return outermost;
    }

    /**
     * At the start of the execution of a task that knows when it was due: how long ago that was, in
     * nanoseconds, and what {@link Stackagent#mark} was before it was found out.
     */
    @Hidden
    public static void due(long mark, long late, Object task) {
        if (Stackagent.BYTECODES) {
            Stackagent.reset(mark); // finding out is not the program's work
        }
        long context = Stackagent.on ? Stackagent.slot(Thread.currentThread()).context : 0;
        if (context != 0) {
            due0(context, taskId(task), (int) (Stackagent.known(task.getClass()) >>> 32), late);
        }
    }

    /** At the end of a period: the task queues itself again, by no method that submits. */
    @Hidden
    public static void queuedAgain(Object task) {
        long info = Stackagent.on ? Stackagent.known(task.getClass()) : 0;
        long submitted = info >>> Stackagent.SUBMITTED_SHIFT & Stackagent.SUBMITTED_OFFSET;
        long at = (info & Stackagent.OFFSET) <= Stackagent.IN_SLOT || submitted == 0 ? 0 : U.getLong(task, submitted);
        if (at != 0) { // a task that is cancelled at this moment stays so
            U.compareAndSetLong(task, submitted, at, at & Stackagent.CANCELLED | now0() | Stackagent.SCHEDULED_TIME);
        }
    }

    /**
     * In a Timer's loop, before the first task of its queue is taken out, to be executed next, or gets
     * the time of its next period.
     */
    @Hidden
    public static void firing(Object queue) {
        long mark = Stackagent.BYTECODES ? Stackagent.mark() : 0;
        boolean known = Stackagent.on && queue != null && queue.getClass().getName().equals("java.util.TaskQueue"); // reflection passes anything
        Object tasks = known ? field(queue, queue.getClass(), "queue") : null;
        Object task = tasks instanceof TimerTask[] && ((TimerTask[]) tasks).length > 1 ? ((TimerTask[]) tasks)[1] : null;
        if (task != null && timerDue == 0) {
            timerDue = Stackagent.offset(TimerTask.class, "nextExecutionTime");
        }
        if (task != null && timerDue > 0) {
            fire(task, U.getLong(task, timerDue));
        }
        if (Stackagent.BYTECODES) {
            Stackagent.reset(mark);
        }
    }

    @Hidden
    private static void fire(Object task, long due) {
        long info = Stackagent.known(task.getClass());
        long submitted = info >>> Stackagent.SUBMITTED_SHIFT & Stackagent.SUBMITTED_OFFSET;
        long context = Stackagent.slot(Thread.currentThread()).context;
        if (context == 0 || (info & Stackagent.OFFSET) <= Stackagent.IN_SLOT || submitted == 0) {
            return;
        }
        firing0(context, U.getLong(task, submitted), due);
        queuedAgain(task);
    }

    /** Before every return of a method that submits. */
    @ForceInline
    @Hidden
    public static void submitted(int token) {
        if (token >= 0) {
            long context = Stackagent.slot(Thread.currentThread()).context;
            int number = open(context, token);
            if (number < 0) {
                return; // it began in an earlier session
            }
            U.putInt(null, context + SUBMISSIONS_OPEN, number);
            if (number == 0 && U.getInt(null, context + DEPTH) == 0) {
                release(context);
            }
        }
    }

    /** A virtual thread without an open execution keeps nothing in C. */
    @Hidden
    private static void release(long context) {
        if (U.getByte(null, context + IS_VIRTUAL) != 0 && Stackagent.release0(context)) {
            Stackagent.slot(Thread.currentThread()).context = 0;
        }
    }

    /** In the catch-all handler of a method that submits. */
    @Hidden
    public static void refused(Throwable thrown, Object task, int token) {
        if (token < 0) {
            return;
        }
        if (thrown instanceof RejectedExecutionException) {
            long context = Stackagent.slot(Thread.currentThread()).context;
            int number = open(context, token);
            if (number >= 0) {
                refused0(context, number);
                forget(task);
                refuseHeld(context, number, task);
            }
        }
        submitted(token);
    }

    /** What a refused task of the JDK holds is refused with it. */
    @Hidden
    private static void refuseHeld(long context, int number, Object task) {
        for (Object held = holds(task); held != null; held = holds(held)) {
            long id = taskId(held);
            if (id != 0) {
                refusedHeld0(context, number, id, (int) (Stackagent.known(held.getClass()) >>> 32));
            }
        }
    }

    /** The id of an object that may be no task; 0: this session has not seen its creation. */
    @Hidden
    private static long taskId(Object held) {
        return Stackagent.known(held.getClass()) == 0 ? 0 : Stackagent.idOf(held);
    }

    /** The latest submission is taken back. */
    @Hidden
    private static void forget(Object task) {
        long info = Stackagent.known(task.getClass());
        long submitted = info >>> Stackagent.SUBMITTED_SHIFT & Stackagent.SUBMITTED_OFFSET;
        if ((info & Stackagent.OFFSET) == 0) {
            refusedBare0(System.identityHashCode(task), (int) (info >>> 32));
        } else if ((info & Stackagent.OFFSET) == Stackagent.IN_SLOT) {
            Stackagent.slot((Thread) task).submitted = 0;
        } else if (submitted != 0) {
            U.putLong(task, submitted, 0L);
        }
    }

    /**
     * Before the returns of cancel: its result, the task, and the task that this one wrapped when
     * cancel began.
     */
    @Hidden
    public static boolean cancelled(boolean done, Object task, Object held) {
        if (done && cancel(task)) {
            for (Object inside = held; inside != null && inside != task; inside = holds(inside)) {
                cancel(inside);
            }
        }
        return done;
    }

    /**
     * At the start of cancel: the task that a task of the JDK wraps, which it is about to forget.
     * null: it wraps none, or an unknown one. The field is read; no task of the program is called.
     */
    @Hidden
    public static Object holds(Object task) {
        if (!Stackagent.on) {
            return null;
        }
        long mark = Stackagent.BYTECODES ? Stackagent.mark() : 0;
        Object held = null;
        Class<?> c = task.getClass();
        while (held == null && c != null && c != Object.class) {
            held = c.getClassLoader0() == null ? inFieldOf(task, c) : null;
            c = c.getSuperclass();
        }
        if (Stackagent.BYTECODES) {
            Stackagent.reset(mark); // the library's methods count their own instructions
        }
        return held;
    }

    @Hidden
    private static Object inFieldOf(Object task, Class<?> c) {
        switch (c.getName()) {
            case "java.util.concurrent.FutureTask":
            case "java.util.concurrent.ForkJoinTask$AdaptedCallable":
            case "java.util.concurrent.ForkJoinTask$AdaptedInterruptibleCallable":
            case "java.util.concurrent.ForkJoinTask$CallableWithTimeout":
            case "java.util.concurrent.ForkJoinTask$InvokeAnyTask":
            case "java.util.concurrent.ForkJoinPool$InvokeAnyTask":
                return field(task, c, "callable");
            case "java.util.concurrent.ForkJoinTask$AdaptedRunnable":
            case "java.util.concurrent.ForkJoinTask$AdaptedRunnableAction":
            case "java.util.concurrent.ForkJoinTask$AdaptedInterruptibleRunnable":
            case "java.util.concurrent.ForkJoinTask$RunnableExecuteAction":
                return field(task, c, "runnable");
            case "java.util.concurrent.DelayScheduler$ScheduledForkJoinTask":
                Object runnable = field(task, c, "runnable");
                return runnable != null ? runnable : field(task, c, "callable");
            case "java.util.concurrent.CompletableFuture$AsyncRun":
            case "java.util.concurrent.CompletableFuture$UniRun":
            case "java.util.concurrent.CompletableFuture$BiRun":
            case "java.util.concurrent.CompletableFuture$OrRun":
                return field(task, c, "fn");
            case "java.util.concurrent.CompletableFuture$TaskSubmitter":
                return field(task, c, "action");
            case "java.util.concurrent.Executors$RunnableAdapter":
                return field(task, c, "task");
            default:
                return null;
        }
    }

    /** null: in this JDK the class has no such field. */
    @Hidden
    private static Object field(Object task, Class<?> c, String name) {
        long at = Stackagent.offset(c, name);
        return at > 0 ? U.getReference(task, at) : null;
    }

    /** Records it once, however often the task is cancelled. False: it was recorded before, or nothing is. */
    @Hidden
    private static boolean cancel(Object task) {
        long info = Stackagent.known(task.getClass());
        long offset = info & Stackagent.OFFSET;
        long submitted = info >>> Stackagent.SUBMITTED_SHIFT & Stackagent.SUBMITTED_OFFSET;
        if (info == 0 || offset == Stackagent.IN_SLOT || offset != 0 && submitted == 0 || !Stackagent.on) {
            return false;
        }
        long id = offset == 0 ? 0 : U.getLong(task, offset) & ~Stackagent.EXECUTED;
        while (offset != 0) {
            long at = U.getLongVolatile(task, submitted);
            if ((at & Stackagent.CANCELLED) != 0 || id < Stackagent.firstId) {
                return false; // recorded already, or its submission was not seen
            }
            if (U.compareAndSetLong(task, submitted, at, at | Stackagent.CANCELLED)) {
                break;
            }
        }
        Thread t = Thread.currentThread();
        long context = Stackagent.slot(t).context;
        if (context == 0) {
            context = Stackagent.attach(t);
        }
        if (context != 0) {
            if (offset == 0) {
                cancelledBare0(context, System.identityHashCode(task), (int) (info >>> 32));
            } else {
                cancelled0(context, id, (int) (info >>> 32));
            }
            releaseIfIdle(context);
        } else {
            lost0(0);
        }
        return true;
    }

    /** What {@link #submitted} does at the end of the outermost submission. */
    @Hidden
    private static void releaseIfIdle(long context) {
        if (U.getInt(null, context + DEPTH) == 0 && U.getInt(null, context + SUBMISSIONS_OPEN) == 0) {
            release(context);
        }
    }

    /** Where an execution ends by an exception, before its end is recorded. */
    @Hidden
    public static void failing(Throwable thrown, int token) {
        if (token >= 0) {
            failing0(Stackagent.slot(Thread.currentThread()).context, token, System.identityHashCode(thrown), thrown);
        }
    }

    /** Before the program gets what may be an exception that ended an execution, or a wrapper of one. */
    @Hidden
    public static void asked(Object given) {
        if (!(given instanceof Throwable) || !Stackagent.on) {
            return;
        }
        Thread t = Thread.currentThread();
        long context = Stackagent.slot(t).context;
        if (context == 0) {
            context = Stackagent.attach(t);
        }
        if (context == 0) {
            return;
        }
        Object before = null; // without a cause: its own
        for (int i = 0; i < MOST_CAUSES && given != null && given != before; i++) {
            asked0(context, System.identityHashCode(given));
            before = given;
            given = U.getReference(given, Stackagent.CAUSE); // getCause() may be the program's
        }
        releaseIfIdle(context);
    }

    @ForceInline
    @Hidden
    private static int executorId(Object executor) {
        if (EXECUTOR_CLASS < 0) {
            return idByIdentity(executor);
        }
        Object values = U.getReference(executor.getClass(), CLASS_VALUES);
        long at = values == null ? 0 : U.getLong(values, EXECUTOR_CLASS);
        int id = at > 0 ? (int) U.getLong(executor, at) : 0;
        return id != 0 ? id : newExecutor(executor, at);
    }

    /**
     * at: the offset of the id; below 0: the id of all instances of a class that has no room for it;
     * 0: not known.
     */
    @Hidden
    private static int newExecutor(Object executor, long at) {
        Class<?> c = executor.getClass();
        if (at == 0) {
            at = describeExecutors0(c);
            Object values = U.getReference(c, CLASS_VALUES);
            if (values != null && !U.compareAndSetLong(values, EXECUTOR_CLASS, 0, at)) { // another thread was first
                at = U.getLong(values, EXECUTOR_CLASS);
            }
        }
        if (at == BY_IDENTITY) {
            return idByIdentity(executor);
        }
        if (at <= 0) {
            return (int) -at;
        }
        // If two threads do so at once, one description is unused.
        int id = newExecutor(executor);
        return U.compareAndSetLong(executor, at, 0L, id) ? id : (int) U.getLong(executor, at);
    }

    /** Describes it, before a record can name it. */
    @Hidden
    static int newExecutor(Object executor) {
        boolean common = executor instanceof ForkJoinPool && executor == ForkJoinPool.commonPool();
        return newExecutor0(executor.getClass(), common ? "common" : "");
    }

    /**
     * In the constructor of an executor: the program's method under it on the stack is where it is made.
     * The common pool is made by the JDK, and has no id yet.
     */
    @Hidden
    public static void executorMade(Object executor) {
        if (!Stackagent.on || executor instanceof ForkJoinPool && ForkJoinPool.commonPool() == null) {
            return;
        }
        int id = executorId(executor);
        if (id != 0 && ownId(executor.getClass())) {
            executorMade0(id, executor.getClass());
        }
    }

    /** At the start of the loop of an executor's worker. */
    @Hidden
    public static void working(Object executor) {
        if (!Stackagent.on || executor == null) {
            return;
        }
        Thread t = Thread.currentThread();
        long context = Stackagent.slot(t).context;
        int id = executorId(executor);
        if (context != 0 && id != 0 && ownId(executor.getClass())) {
            working0(context, t, id);
            given(executor, id);
        }
    }

    /** What the program gave the executor: by now it has set what it sets. Its methods are not called, as a subclass may have its own. */
    @Hidden
    private static void given(Object executor, int id) {
        if (executor instanceof ThreadPoolExecutor) {
            Object queue = field(executor, ThreadPoolExecutor.class, "workQueue");
            boolean removes = executor instanceof ScheduledThreadPoolExecutor
                    && number(executor, ScheduledThreadPoolExecutor.class, "removeOnCancel", true) != 0;
            given0(id, executor.getClass(), number(executor, ThreadPoolExecutor.class, "corePoolSize", false),
                    number(executor, ThreadPoolExecutor.class, "maximumPoolSize", false), queue == null ? null : queue.getClass(),
                    bound(queue), removes, false);
        } else if (executor.getClass() == ForkJoinPool.class) {
            long mark = Stackagent.BYTECODES ? Stackagent.mark() : 0;
            ForkJoinPool pool = (ForkJoinPool) executor;
            given0(id, ForkJoinPool.class, 0, pool.getParallelism(), null, 0, false, pool.getAsyncMode());
            if (Stackagent.BYTECODES) {
                Stackagent.reset(mark);
            }
        }
    }

    /** The most elements that a queue of the JDK holds; 0: not known, or none. */
    @Hidden
    private static int bound(Object queue) {
        if (queue instanceof LinkedBlockingQueue) {
            return number(queue, LinkedBlockingQueue.class, "capacity", false);
        }
        if (queue instanceof LinkedBlockingDeque) {
            return number(queue, LinkedBlockingDeque.class, "capacity", false);
        }
        if (queue instanceof ArrayBlockingQueue) {
            Object items = field(queue, ArrayBlockingQueue.class, "items");
            return items instanceof Object[] ? ((Object[]) items).length : 0;
        }
        if (queue == null) {
            return 0;
        }
        switch (queue.getClass().getName()) {
            case "java.util.concurrent.PriorityBlockingQueue":
            case "java.util.concurrent.LinkedTransferQueue":
            case "java.util.concurrent.DelayQueue":
            case "java.util.concurrent.ScheduledThreadPoolExecutor$DelayedWorkQueue":
                return Integer.MAX_VALUE;
            default:
                return 0;
        }
    }

    /** 0: in this JDK the class has no such field. */
    @Hidden
    private static int number(Object of, Class<?> c, String name, boolean isFlag) {
        long at = Stackagent.offset(c, name);
        if (at <= 0) {
            return 0;
        }
        return !isFlag ? U.getInt(of, at) : U.getBoolean(of, at) ? 1 : 0;
    }

    /** Each instance has an id of its own. */
    @Hidden
    private static boolean ownId(Class<?> c) {
        if (EXECUTOR_CLASS < 0) {
            return true;
        }
        Object values = U.getReference(c, CLASS_VALUES);
        long at = values == null ? 0 : U.getLong(values, EXECUTOR_CLASS);
        return at > 0 || at == BY_IDENTITY;
    }

    @Hidden
    private static int idByIdentity(Object executor) {
        if (!Stackagent.on) {
            return 0;
        }
        long mark = Stackagent.BYTECODES ? Stackagent.mark() : 0;
        int id = Stackagent.Executor.idOf(executor);
        if (Stackagent.BYTECODES) {
            Stackagent.reset(mark); // the library's methods count their own instructions
        }
        return id;
    }

    /** Offset of the id field in instances of a class that declares it. Called from C. */
    private static long executorOffset(Class<?> declaring) {
        return U.objectFieldOffset(declaring, "stackagent$executor");
    }

    /** Before a task is made, for example by a lambda expression: its site. */
    @ForceInline
    @Hidden
    public static void making(int site) {
        long context = Stackagent.slot(Thread.currentThread()).context;
        if (context != 0) {
            U.putInt(null, context + MAKING_AT, site & SITE);
        }
    }

    /**
     * Like making, for an object that may be no task; the compiler drops the call if it is none. Most code that creates
     * objects has such sites, so what is inlined there is as little as possible: compilers take time for it.
     */
    @ForceInline
    @Hidden
    public static void maybe(int site, Class<?> c) {
        if (VERDICTS[site] != NO_TASK) {
            makingIfTask(site, c);
        }
    }

    @Hidden
    private static void makingIfTask(int site, Class<?> c) {
        byte verdict = VERDICTS[site];
        if (verdict == 0) {
            verdict = judge(site, c);
        }
        if (verdict == TASK) {
            making(site);
        }
    }

    /** After the task is made: no other one was made there. */
    @ForceInline
    @Hidden
    public static void made(int site) {
        if (VERDICTS[site] != NO_TASK) {
            unmade();
        }
    }

    @Hidden
    private static byte judge(int site, Class<?> c) {
        boolean task = customTasks || Runnable.class.isAssignableFrom(c) || Callable.class.isAssignableFrom(c)
                || ForkJoinTask.class.isAssignableFrom(c);
        return VERDICTS[site] = task ? TASK : NO_TASK;
    }

    /**
     * Before the call of a method that may submit a task: its site. Returns the previous site, for
     * {@link #called}. A task that was about to be made before was not made.
     */
    @ForceInline
    @Hidden
    public static int calling(int site) {
        long context = Stackagent.slot(Thread.currentThread()).context;
        if (context == 0) {
            return NOT_CALLING;
        }
        int before = U.getInt(null, context + CALLING_AT);
        U.putInt(null, context + CALLING_AT, U.getInt(null, context + DEPTH) << CALLING_DEPTH_SHIFT | site & SITE);
        U.putInt(null, context + MAKING_AT, 0);
        return before;
    }

    /** After the call. */
    @ForceInline
    @Hidden
    public static void called(int before) {
        long context = Stackagent.slot(Thread.currentThread()).context;
        if (context != 0) {
            U.putInt(null, context + CALLING_AT, before != NOT_CALLING ? before : 0);
        }
    }

    /**
     * In the handlers of a method with sites: a call or a constructor at one of them may have thrown.
     * before: the site before the latest call, or NOT_CALLING if there was none.
     */
    @Hidden
    public static void thrown(int before) {
        unmade();
        if (before != NOT_CALLING) {
            called(before);
        }
    }

    /** Like that one, in a method whose calls have no sites. */
    @Hidden
    public static void unmade() {
        making(0);
    }

    /** As {@link Stackagent}'s link. Called from C. */
    private static void link(boolean custom) {
        customTasks = custom;
        submit0(0, 0, 0, 0, 0);
        now0();
        due0(0, 0, 0, 0);
        firing0(0, 0, 0);
        refused0(0, 0);
        refusedHeld0(0, 0, 0, 0);
        cancelled0(0, 0, 0);
        submitBare0(0, 0, 0, 0, 0);
        refusedBare0(0, 0);
        cancelledBare0(0, 0, 0);
        failing0(0, 0, 0, null);
        asked0(0, 0);
        lost0(0);
        describeExecutors0(null);
        newExecutor0(null, null);
        executorMade0(0, null);
        working0(0, null, 0);
        given0(0, null, 0, 0, null, 0, false, false);
    }

    private static native long submit0(long context, long id, int classId, int executor, int flags);

    /**
     * Like submit0, for a task without room for its id. False: it is part of another submission, or
     * nothing is recorded.
     */
    private static native boolean submitBare0(long context, int hash, int classId, int executor, int flags);

    private static native void refusedBare0(int hash, int classId);

    private static native void cancelledBare0(long context, int hash, int classId);

    private static native void failing0(long context, int token, int hash, Throwable thrown);

    private static native void asked0(long context, int hash);

    /** Counts a submission for which there is no memory. */
    private static native void lost0(long context);

    private static native long now0();

    private static native void due0(long context, long id, int classId, long late);

    /** submitted: when the task was queued; due: by the clock of {@link System#currentTimeMillis}. */
    private static native void firing0(long context, long submitted, long due);

    private static native void refused0(long context, int token);

    private static native void refusedHeld0(long context, int number, long id, int classId);

    private static native void cancelled0(long context, long id, int classId);

    /** Finds where the instances of an executor class keep their id, see {@link #newExecutor}. */
    private static native long describeExecutors0(Class<?> c);

    private static native int newExecutor0(Class<?> c, String name);

    /** Describes an executor that is being constructed once more, with the program's method that does so. */
    private static native void executorMade0(int id, Class<?> c);

    /** The thread works for the executor. */
    private static native void working0(long context, Thread thread, int executor);

    /** Describes an executor with what it was given; does nothing if it has described it so before. */
    private static native void given0(int id, Class<?> c, int core, int maximum, Class<?> queue, int bound, boolean removesCancelled,
            boolean asyncMode);
}
