import static net.bytebuddy.matcher.ElementMatchers.isSubTypeOf;
import static net.bytebuddy.matcher.ElementMatchers.named;
import static net.bytebuddy.matcher.ElementMatchers.none;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.LongAdder;
import net.bytebuddy.agent.builder.AgentBuilder;
import net.bytebuddy.asm.Advice;

/** Another agent in the same JVM: advice, retransform, or profile=LIBRARY. */
public class Neighbour {
    static final LongAdder seen = new LongAdder();

    public static void premain(String args, Instrumentation in) throws Exception {
        if (args.equals("advice")) {
            advise(in);
        } else if (args.equals("retransform")) {
            in.addTransformer(new Looking(), true);
            retransform(in); // once before the program, and then again and again
            background(() -> retransform(in));
        } else {
            cycle(args.substring("profile=".length()));
        }
    }

    public static long seen() {
        return seen.sum();
    }

    public static void saw() {
        seen.increment();
    }

    /** Inlined into the program's tasks. */
    public static class OfTasks {
        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit() {
            Neighbour.saw();
        }
    }

    /** Inlined into classes of the platform, which see no class of ours. */
    public static class OfPlatform {
        @Advice.OnMethodEnter
        static long enter() {
            return System.nanoTime();
        }

        @Advice.OnMethodExit(onThrowable = Throwable.class)
        static void exit(@Advice.Enter long at) {
            if (System.nanoTime() < at) {
                throw new IllegalStateException("time runs backwards");
            }
        }
    }

    static void advise(Instrumentation in) {
        new AgentBuilder.Default()
                .disableClassFormatChanges()
                .with(AgentBuilder.RedefinitionStrategy.RETRANSFORMATION)
                .ignore(none())
                .type(named("Main$Job"))
                .transform((b, type, loader, module, domain) -> b.visit(Advice.to(OfTasks.class).on(named("run"))))
                .type(isSubTypeOf(ThreadPoolExecutor.class).or(named(FutureTask.class.getName())).or(named(ForkJoinTask.class.getName())))
                .transform((b, type, loader, module, domain) ->
                        b.visit(Advice.to(OfPlatform.class).on(named("run").or(named("execute")).or(named("runWorker")).or(named("invoke")))))
                .installOn(in);
    }

    /** Gets the class file of each class, and does not change it. */
    static class Looking implements ClassFileTransformer {
        @Override
        public byte[] transform(ClassLoader loader, String name, Class<?> c, ProtectionDomain domain, byte[] bytes) {
            return name != null && name.startsWith("Main$") && bytes.length % 2 == 0 ? bytes.clone() : null;
        }
    }

    static void retransform(Instrumentation in) {
        List<Class<?>> some = new ArrayList<>();
        Class<?>[] all = in.getAllLoadedClasses();
        for (int i = 0; all != null && i < all.length; i++) { // null: the JVM ends
            Class<?> c = all[i];
            String name = c.getName();
            if (in.isModifiableClass(c) && (name.startsWith("Main") || name.startsWith("java.util.concurrent") || name.startsWith("java.lang.Thr"))) {
                some.add(c);
            }
        }
        for (Class<?> c : some) {
            try {
                in.retransformClasses(c);
            } catch (Throwable e) {
                System.out.println("retransforming " + c + ": " + e);
            }
        }
    }

    static volatile boolean ending;

    static Thread background(Runnable r) {
        Thread t = new Thread(() -> {
            while (!ending) {
                r.run();
            }
        });
        t.setDaemon(true);
        t.start();
        return t;
    }

    /**
     * Starts and stops async-profiler, with another kind of profile each time. It stops before the JVM ends: a profiler
     * that still runs then prints to stdout.
     */
    static void cycle(String library) throws Exception {
        Class<?> type = Class.forName("one.profiler.AsyncProfiler");
        Object profiler = type.getMethod("getInstance", String.class).invoke(null, library);
        Method execute = type.getMethod("execute", String.class);
        String[] kinds = {"event=itimer,interval=1ms", "event=wall,interval=2ms", "event=alloc,alloc=64k", "event=lock,lock=10us", "event=ctimer,interval=1ms"};
        int[] next = {0};
        Thread cycling = background(() -> {
            try {
                execute.invoke(profiler, "start," + kinds[next[0]++ % kinds.length]);
                Thread.sleep(20);
                execute.invoke(profiler, "stop");
            } catch (Exception e) {
                System.out.println("profiling: " + (e.getCause() == null ? e : e.getCause()));
            }
        });
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            ending = true;
            try {
                cycling.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }));
    }
}
