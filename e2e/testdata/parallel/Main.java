import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Operations for which the JDK makes fork/join tasks, with a parallelism of 2. A comment says how many executions a
 * line has ("?": it depends on who is faster, or on the data): streams are cut into 4 parts for each processor, 8
 * leaves; a reduction executes each leaf once, and a forEach has as many executions as leaves. A map's
 * task with a batch of n forks those with n/2, n/4 ... 0 and works itself: 16 for 4 parts for each processor.
 */
public class Main {
    static List<Integer> doubled(List<Integer> list) {
        return list.parallelStream().map(x -> 2 * x)
            .filter(x -> x > 0)
            .collect(Collectors.toList()); // @executions 8
    }

    public static void main(String[] args) throws Exception {
        List<Integer> list = IntStream.range(1, (1 << 14) + 1).boxed().toList();
        System.out.println(doubled(list).size());
        list.parallelStream().forEach(x -> {}); // @executions 8
        Thread other = new Thread(() -> // @executions 1: of the lambda
            list.parallelStream().forEach(x -> {})); // @executions 8
        other.start(); // @executions 1: of the thread
        other.join();
        int[] ints = new Random(1).ints(1 << 17).toArray();
        Arrays.parallelSort(ints); // @executions ?
        Arrays.parallelPrefix(ints, Integer::sum); // @executions ?
        Arrays.parallelSetAll(ints, i -> i); // @executions 8
        ConcurrentHashMap<Integer, Integer> map = new ConcurrentHashMap<>();
        list.forEach(x -> map.put(x, x));
        map.forEach(1, (k, v) -> {}); // @executions 16
        System.out.println(map.reduceValues(1, Integer::sum)); // @executions 16
    }
}
