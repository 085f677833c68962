import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Curator's mutex as a contestant: what it is told and what it answers is as in lock-worker.ts beside this file. */
public final class CuratorBench {
  private final CuratorFramework client;

  private CuratorBench(CuratorFramework client) {
    this.client = client;
  }

  public static void main(String[] args) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(args[0])
            // It would go on to the other servers of an ensemble.
            .ensembleTracker(false)
            .sessionTimeoutMs(10_000)
            .connectionTimeoutMs(10_000)
            .retryPolicy(new ExponentialBackoffRetry(100, 5))
            .build();
    client.start();
    client.blockUntilConnected();
    CuratorBench bench = new CuratorBench(client);
    System.out.println("start\tok");
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split("\t");
      String answer;
      try {
        answer = "ok\t" + bench.obey(words);
      } catch (Exception error) {
        answer = "failed\t" + error.toString().replaceAll("\\s+", " ");
      }
      System.out.println(words[0] + "\t" + answer);
    }
    client.close();
  }

  private String obey(String[] words) throws Exception {
    return switch (words[1]) {
      case "alone" -> alone(words[2], Long.parseLong(words[3]));
      case "spread" -> spread(words[2], Integer.parseInt(words[3]), Long.parseLong(words[4]));
      case "crowd" -> crowd(words[2], Integer.parseInt(words[3]), Long.parseLong(words[4]));
      default -> throw new IllegalArgumentException("no such command: " + words[1]);
    };
  }

  private String alone(String key, long durationMs) throws Exception {
    InterProcessMutex mutex = new InterProcessMutex(client, key);
    List<Double> tookMs = new ArrayList<>();
    long endsAt = System.nanoTime() + durationMs * 1_000_000;
    for (long startedAt = System.nanoTime(); startedAt < endsAt; startedAt = System.nanoTime()) {
      mutex.acquire();
      tookMs.add((System.nanoTime() - startedAt) / 1e6);
      mutex.release();
    }
    Collections.sort(tookMs);
    return "p50=" + tookMs.get((int) (tookMs.size() * 0.5)) + "\tp99=" + tookMs.get((int) (tookMs.size() * 0.99));
  }

  private String spread(String root, int ways, long durationMs) throws Exception {
    AtomicLong cycles = new AtomicLong();
    OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    long cpuBefore = system.getProcessCpuTime();
    long startedAt = System.nanoTime();
    inThreads(
        ways,
        way -> {
          InterProcessMutex mutex = new InterProcessMutex(client, root + "/" + way);
          while (System.nanoTime() - startedAt < durationMs * 1_000_000) {
            mutex.acquire();
            mutex.release();
            cycles.incrementAndGet();
          }
        });
    double tookSeconds = (System.nanoTime() - startedAt) / 1e9;
    double cpuMicros = (system.getProcessCpuTime() - cpuBefore) / 1e3;
    return "cyclesPerSecond=" + cycles.get() / tookSeconds + "\tcpuMicrosPerCycle=" + cpuMicros / cycles.get();
  }

  private String crowd(String key, int contenders, long durationMs) throws Exception {
    long[] entered = new long[contenders];
    AtomicLong handed = new AtomicLong();
    AtomicInteger last = new AtomicInteger(-1);
    long endsAt = System.nanoTime() + durationMs * 1_000_000;
    inThreads(
        contenders,
        number -> {
          InterProcessMutex mutex = new InterProcessMutex(client, key);
          while (System.nanoTime() < endsAt) {
            mutex.acquire();
            if (System.nanoTime() < endsAt) {
              entered[number] += 1;
              if (last.getAndSet(number) != number) handed.incrementAndGet();
            }
            mutex.release();
          }
        });
    return "entered=" + LongStream.of(entered).sum() + "\thanded=" + handed.get()
        + "\tfewest=" + LongStream.of(entered).min().getAsLong() + "\tmost=" + LongStream.of(entered).max().getAsLong();
  }

  private interface Work {
    void run(int number) throws Exception;
  }

  private static void inThreads(int count, Work work) throws Exception {
    AtomicReference<Exception> failure = new AtomicReference<>();
    CountDownLatch done = new CountDownLatch(count);
    for (int thread = 0; thread < count; thread += 1) {
      int number = thread;
      new Thread(
              () -> {
                try {
                  work.run(number);
                } catch (Exception error) {
                  failure.set(error);
                } finally {
                  done.countDown();
                }
              })
          .start();
    }
    done.await();
    if (failure.get() != null) throw failure.get();
  }
}
