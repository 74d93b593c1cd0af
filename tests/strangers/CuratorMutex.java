// Threads that take Curator's InterProcessMutex in turn, and look whether they are ever two inside.
// Must not know which server it is.
// Run by curator.ts: java -cp … CuratorMutex.java HOST:PORT THREADS ROUNDS; prints one line of JSON.

import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorMutex {
  public static void main(String[] args) throws Exception {
    String address = args[0];
    int threads = Integer.parseInt(args[1]);
    int rounds = Integer.parseInt(args[2]);
    String own = contest("own", address, threads, rounds);
    String shared = contest("shared", address, threads, rounds);
    System.out.println("[" + own + "," + shared + "]");
    // Threads of a contest that failed would keep java from ending.
    System.exit(0);
  }

  /** With a client for each thread ("own"), or one for all ("shared"). */
  static String contest(String clients, String address, int threads, int rounds)
      throws Exception {
    String path = "/zklock-curator-" + UUID.randomUUID();
    long start = System.nanoTime();
    List<CuratorFramework> all = new ArrayList<>();
    for (int i = 0; i < (clients.equals("own") ? threads : 1); i++) {
      all.add(open(address));
    }
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger acquired = new AtomicInteger();
    AtomicInteger overlaps = new AtomicInteger();
    // Not atomic: where two are inside, it misses some.
    int[] counter = new int[1];
    List<Future<?>> running = new ArrayList<>();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    CountDownLatch begin = new CountDownLatch(1);
    for (int i = 0; i < threads; i++) {
      CuratorFramework client = all.get(i % all.size());
      InterProcessMutex mutex = new InterProcessMutex(client, path + "/mutex");
      running.add(pool.submit(() -> {
        begin.await();
        for (int round = 0; round < rounds; round++) {
          if (!mutex.acquire(60, TimeUnit.SECONDS)) {
            throw new IllegalStateException("not acquired in 60 s");
          }
          try {
            if (inside.incrementAndGet() != 1) overlaps.incrementAndGet();
            acquired.incrementAndGet();
            int seen = counter[0];
            Thread.sleep(0, 100_000);
            counter[0] = seen + 1;
            // It is reentrant: the second time asks nobody.
            mutex.acquire();
            mutex.release();
            inside.decrementAndGet();
          } finally {
            mutex.release();
          }
        }
        return null;
      }));
    }
    begin.countDown();
    String error = "";
    try {
      for (Future<?> thread : running) thread.get(120, TimeUnit.SECONDS);
    } catch (Exception e) {
      error = String.valueOf(e.getCause() == null ? e : e.getCause());
    }
    CuratorFramework client = all.get(0);
    int left = client.getChildren().forPath(path + "/mutex").size();
    client.delete().deletingChildrenIfNeeded().forPath(path);
    boolean isGone = client.checkExists().forPath(path) == null;
    for (CuratorFramework each : all) each.close();
    pool.shutdownNow();
    long ms = (System.nanoTime() - start) / 1_000_000;
    return "{\"clients\":\"" + clients + "\",\"acquired\":" + acquired
        + ",\"counted\":" + counter[0] + ",\"overlaps\":" + overlaps
        + ",\"left\":" + left + ",\"isGone\":" + isGone + ",\"ms\":" + ms
        + ",\"error\":\"" + error.replaceAll("[\"\\\\\\p{Cntrl}]", "'") + "\"}";
  }

  static CuratorFramework open(String address) throws Exception {
    CuratorFramework client = CuratorFrameworkFactory.newClient(
        address, 15_000, 10_000, new ExponentialBackoffRetry(100, 3));
    client.start();
    if (!client.blockUntilConnected(15, TimeUnit.SECONDS)) {
      throw new IllegalStateException("not connected in 15 s");
    }
    return client;
  }
}
