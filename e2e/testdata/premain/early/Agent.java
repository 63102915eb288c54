package early;

import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.security.ProtectionDomain;

/**
 * In premain, retransforms classes whose supertypes are the program's own, classes that are not linked yet, and the
 * JDK's own tasks. Its transformer changes nothing.
 */
public final class Agent {
    private static final String[] CLASSES = {
        "early.Base", "early.Child", "early.Unlinked", "early.Agent$Lender", "early.Agent$Borrower",
        "java.util.concurrent.FutureTask", "java.util.concurrent.Executors$RunnableAdapter",
        "java.util.concurrent.ThreadPoolExecutor", "java.util.concurrent.ThreadPoolExecutor$Worker",
        "java.util.concurrent.ForkJoinPool", "java.util.concurrent.CompletableFuture", "java.util.TimerThread",
        "java.lang.ClassValue$ClassValueMap", "java.util.concurrent.ForkJoinTask", "java.util.concurrent.RecursiveAction", "java.lang.Thread", "java.util.HashMap",
    };

    private Agent() {}

    /** Called by the JVM. */
    public static void premain(String args, Instrumentation in) throws Exception {
        in.addTransformer(new ClassFileTransformer() {
            @Override
            public byte[] transform(ClassLoader l, String n, Class<?> c, ProtectionDomain d, byte[] b) {
                return c == null ? null : b.clone();
            }
        }, true);
        for (String name : CLASSES) {
            Class<?> c = Class.forName(name, false, Agent.class.getClassLoader());
            in.retransformClasses(c);
        }
        new Borrower().run();
    }

    /** No task, but its subclass has its run() from it. */
    static class Lender {
        public void run() {
            Base.RAN.incrementAndGet();
        }
    }

    static final class Borrower extends Lender implements Runnable {}
}
