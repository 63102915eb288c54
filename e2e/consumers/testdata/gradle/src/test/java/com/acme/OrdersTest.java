package com.acme;

import static org.junit.Assert.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.Test;

public class OrdersTest {
    static final class Order implements Callable<Integer> {
        @Override
        public Integer call() {
            return 1;
        }
    }

    @Test
    public void orders() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        List<Future<Integer>> all = new ArrayList<>();
        int orders = Integer.getInteger("orders");
        for (int i = 0; i < orders; i++) {
            all.add(pool.submit(new Order()));
        }
        int sum = 0;
        for (Future<Integer> f : all) {
            sum += f.get();
        }
        pool.shutdown();
        assertEquals(orders, sum);
    }
}
