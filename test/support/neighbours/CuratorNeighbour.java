import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.imps.ProtectedUtils;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.StandardLockInternalsDriver;
import org.apache.curator.retry.ExponentialBackoffRetry;

/**
 * Curator's locks in a process of their own, at a test's command: what it is told and what it answers is in the README
 * beside this file. A lock of Curator belongs to the thread that took it, so each command has one.
 */
public final class CuratorNeighbour {
  private final CuratorFramework client;
  private final FileChannel journal;
  private final Map<String, CountDownLatch> endings = new ConcurrentHashMap<>();

  private CuratorNeighbour(CuratorFramework client, FileChannel journal) {
    this.client = client;
    this.journal = journal;
  }

  public static void main(String[] args) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.builder()
            .connectString(args[0])
            .sessionTimeoutMs(10_000)
            .connectionTimeoutMs(10_000)
            .retryPolicy(new ExponentialBackoffRetry(100, 5))
            .build();
    client.start();
    if (!client.blockUntilConnected(15, TimeUnit.SECONDS)) throw new IllegalStateException("no connection to " + args[0]);
    FileChannel journal =
        FileChannel.open(Path.of(args[1]), StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
    CuratorNeighbour neighbour = new CuratorNeighbour(client, journal);
    answer("start", "ok");

    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String[] words = line.split("\t");
      Thread thread = new Thread(() -> neighbour.obey(words));
      thread.setDaemon(true);
      thread.start();
    }
    client.close();
  }

  private void obey(String[] words) {
    String id = words[0];
    try {
      switch (words[1]) {
        case "hold" -> hold(id, words[2], words[3]);
        case "cycle" -> cycle(id, words[2], words[3]);
        case "end" -> {
          endings.computeIfAbsent(words[2], unused -> new CountDownLatch(1)).countDown();
          answer(id, "ok");
        }
        case "participants" -> answer(id, "ok", String.join("\t", mutex("exclusive", words[2]).participants()));
        case "parse" -> answer(id, "ok", parse(words[2], words[3]));
        default -> throw new IllegalArgumentException("no such command: " + words[1]);
      }
    } catch (Throwable error) {
      answer(id, "failed", error.toString().replaceAll("\\s+", " "));
    }
  }

  /** Takes the lock, tells its node, and gives it back when `end` comes. */
  private void hold(String id, String mode, String key) throws Exception {
    CountDownLatch ending = endings.computeIfAbsent(id, unused -> new CountDownLatch(1));
    NamedLock lock = mutex(mode, key);
    lock.acquire();
    String name = lock.nodeName();
    record("enter", key, mode, name);
    answer(id, "held", name);
    ending.await();
    record("leave", key, mode, name);
    lock.release();
    answer(id, "ok");
  }

  /** Takes the lock and gives it back, again and again, until `end` comes. */
  private void cycle(String id, String mode, String key) throws Exception {
    CountDownLatch ending = endings.computeIfAbsent(id, unused -> new CountDownLatch(1));
    NamedLock lock = mutex(mode, key);
    int rounds = 0;
    for (; ending.getCount() > 0; rounds += 1) {
      lock.acquire();
      String name = lock.nodeName();
      record("enter", key, mode, name);
      Thread.sleep(1);
      record("leave", key, mode, name);
      lock.release();
    }
    answer(id, "ok", String.valueOf(rounds));
  }

  /** What the parsers of Java and Curator make of the name of a contender. */
  private static String parse(String name, String lockName) {
    Optional<String> id = ProtectedUtils.extractProtectedId(name);
    UUID uuid = UUID.fromString(id.orElseThrow());
    return String.join(
        "\t",
        String.valueOf(ProtectedUtils.isProtectedZNode(name)),
        uuid.toString(),
        String.valueOf(uuid.version()),
        ProtectedUtils.normalize(name),
        StandardLockInternalsDriver.standardFixForSorting(name, lockName));
  }

  private NamedLock mutex(String mode, String key) {
    return switch (mode) {
      case "exclusive" -> new NamedMutex(client, key);
      case "write" -> new NamedWriteLock(client, key);
      case "read" -> new NamedReadLock(client, key);
      default -> throw new IllegalArgumentException("no such mode: " + mode);
    };
  }

  /** One line is one write at the end of the file, so the lines of all processes stand in the order of what happened. */
  private void record(String event, String key, String mode, String name) throws Exception {
    String line = String.join("\t", event, key, mode, name, "curator") + "\n";
    journal.write(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
  }

  private static void answer(String... words) {
    synchronized (System.out) {
      System.out.println(String.join("\t", words));
      System.out.flush();
    }
  }

  private static String lastSegment(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  private interface NamedLock {
    void acquire() throws Exception;

    void release() throws Exception;

    java.util.Collection<String> getParticipantNodes() throws Exception;

    String nodeName();

    default java.util.List<String> participants() throws Exception {
      return getParticipantNodes().stream().map(CuratorNeighbour::lastSegment).toList();
    }
  }

  private static final class NamedMutex extends InterProcessMutex implements NamedLock {
    NamedMutex(CuratorFramework client, String key) {
      super(client, key);
    }

    @Override
    public String nodeName() {
      return lastSegment(getLockPath());
    }
  }

  private static final class NamedWriteLock extends InterProcessReadWriteLock.WriteLock implements NamedLock {
    NamedWriteLock(CuratorFramework client, String key) {
      super(client, key, null);
    }

    @Override
    public String nodeName() {
      return lastSegment(getLockPath());
    }
  }

  private static final class NamedReadLock extends InterProcessReadWriteLock.ReadLock implements NamedLock {
    NamedReadLock(CuratorFramework client, String key) {
      super(client, key, null, new NamedWriteLock(client, key));
    }

    @Override
    public String nodeName() {
      return lastSegment(getLockPath());
    }
  }
}
