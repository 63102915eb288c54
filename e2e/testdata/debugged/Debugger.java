import com.sun.jdi.Bootstrap;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.EventRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Debugger PORT FOLDER: suspends the thread of Debugged while it describes a class, until the others are done. */
public class Debugger {
    /** By this the agent stores the id of a class that it has described. */
    static final String METHOD = "setKnown";

    static VirtualMachine attach(String port) throws Exception {
        for (AttachingConnector c : Bootstrap.virtualMachineManager().attachingConnectors()) {
            if (c.transport().name().equals("dt_socket")) {
                Map<String, Connector.Argument> arguments = c.defaultArguments();
                arguments.get("hostname").setValue("127.0.0.1");
                arguments.get("port").setValue(port);
                return c.attach(arguments);
            }
        }
        throw new AssertionError("no connector for sockets");
    }

    static ThreadReference thread(VirtualMachine vm) {
        for (ThreadReference t : vm.allThreads()) {
            if (t.name().equals("to be suspended")) {
                return t;
            }
        }
        throw new AssertionError("no thread");
    }

    static void breakAt(VirtualMachine vm, String method) {
        for (ReferenceType type : vm.classesByName("java.lang.Stackagent")) {
            for (Method m : type.methodsByName(method)) {
                BreakpointRequest r = vm.eventRequestManager().createBreakpointRequest(m.location());
                r.addThreadFilter(thread(vm));
                r.addCountFilter(1);
                r.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                r.enable();
                return;
            }
        }
        throw new AssertionError("no method " + method);
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[1]);
        VirtualMachine vm = attach(args[0]);
        breakAt(vm, METHOD);
        Files.createFile(folder.resolve("go"));
        while (true) {
            EventSet events = vm.eventQueue().remove(60_000);
            if (events == null) {
                throw new AssertionError("the thread does not reach " + METHOD);
            }
            for (Event e : events) {
                if (e instanceof BreakpointEvent) {
                    Files.createFile(folder.resolve("suspended"));
                    for (int i = 0; i < 12_000 && !Files.exists(folder.resolve("done")); i++) {
                        Thread.sleep(5);
                    }
                    boolean done = Files.exists(folder.resolve("done"));
                    vm.dispose(); // resumes the thread
                    System.out.println(done ? "the others went on" : "the others wait for the suspended thread");
                    return;
                }
            }
            events.resume();
        }
    }
}
