package session

import "testing"

func TestPoolOf(t *testing.T) {
	for name, want := range map[string]string{
		"pool-1-thread-7": "pool-1-thread-*", "ForkJoinPool.commonPool-worker-12": "ForkJoinPool.commonPool-worker-*", "ForkJoinPool-1-worker-1": "ForkJoinPool-1-worker-*",
		"GC Thread#0": "GC Thread#*", "G1 Conc#0": "G1 Conc#*", "ZWorkerYoung#10": "ZWorkerYoung#*", "worker7": "worker*", "Thread-3": "Thread-*",
		"kafka-producer-network-thread | producer-1": "kafka-producer-network-thread | producer-*", "kafka-admin-client-thread | adminclient-2": "kafka-admin-client-thread | adminclient-*",
		"data-plane-kafka-request-handler-5": "data-plane-kafka-request-handler-*", "http-nio-8080-exec-10": "http-nio-8080-exec-*", "nioEventLoopGroup-2-1": "nioEventLoopGroup-2-*",
		"qtp1234567-23": "qtp1234567-*", "Executor task launch worker for task 0.0 in stage 0.0 (TID 17)": "Executor task launch worker for task 0.0 in stage 0.0 (TID *)",
		"Thread-1 (ActiveMQ-client-global-threads)": "Thread-* (ActiveMQ-client-global-threads)", "lucene-1-thread-4": "lucene-1-thread-*", "worker[3]": "worker[*]",
		"größe3": "größe*", "C2 CompilerThread0": "C2 CompilerThread*",

		"C1 CompilerThread": "C1 CompilerThread", "C1 CompilerThre": "C1 CompilerThre", "G1 Service": "G1 Service", "G1 Main Marker": "G1 Main Marker", "C2": "C2", "G1": "G1",
		"http-nio-8080-Acceptor": "http-nio-8080-Acceptor", "http-nio-8080-Poller": "http-nio-8080-Poller", "RMI TCP Connection(2)-127.0.0.1": "RMI TCP Connection(2)-127.0.0.1",
		"ForkJoinPool-1-": "ForkJoinPool-1-", "main": "main", "": "", "7": "7", "VM Thread": "VM Thread", "RMI TCP Connection(idle)": "RMI TCP Connection(idle)", "Log4j2 flush": "Log4j2 flush",
	} {
		if got := poolOf(name); got != want {
			t.Errorf("%q is in %q, want %q", name, got, want)
		}
	}
}

func TestServiceName(t *testing.T) {
	for comm, want := range map[string]string{"C1 CompilerThre": "C1 CompilerThread", "VM Periodic Tas": "VM Periodic Task Thread", "Monitor Deflati": "Monitor Deflation Thread",
		"Shenandoah GC T": "Shenandoah GC Threads", "Service Thread": "Service Thread", "pool-1-thread-1": "pool-1-thread-1", "Attach Listener": "Attach Listener",
		"VirtualThread-u": "VirtualThread-u", "ForkJoinPool-1-": "ForkJoinPool-1-"} {
		if got := serviceName(comm); got != want {
			t.Errorf("%q: %q, want %q", comm, got, want)
		}
		if len(comm) == kernelNameLength && ServiceKind(comm) != ServiceKind(want) {
			t.Errorf("%q: of kind %s, in full %s", comm, ServiceKind(comm), ServiceKind(want))
		}
	}
}
