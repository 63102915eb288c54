package com.acme;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.stackagent.junit.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

@Budget("class(\"com.acme.*\").threw == 0")
class OrdersTest {
    static final class Order implements Callable<Integer> {
        @Override
        public Integer call() {
            return 1;
        }
    }

    static final class Invoice implements Callable<Integer> {
        @Override
        public Integer call() {
            return 1;
        }
    }

    @Test
    @Budget("class(\"com.acme.OrdersTest$Order\").executions == 300")
    void orders() throws Exception {
        run(new Order(), 300);
    }

    @Test
    @Budget(value = "class(\"com.acme.OrdersTest$Invoice\").executions == 70", why = "an invoice is written once")
    void invoices() throws Exception {
        run(new Invoice(), Integer.getInteger("invoices", 70));
    }

    private static void run(Callable<Integer> task, int times) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Integer>> all = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            all.add(pool.submit(task));
        }
        int sum = 0;
        for (Future<Integer> f : all) {
            sum += f.get();
        }
        pool.shutdown();
        assertEquals(times, sum);
    }
}
