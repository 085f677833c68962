import type { ServerOptions } from '../support/zookeeper/options.js';

/**
 * A server that is as little as possible of what is measured: all of the JVM's compilers, a heap that collects seldom, and
 * one thread that reads, and writes, and hands nothing on to others. With ZooKeeper's own pool of workers, two cores spend
 * more on waking threads than on requests, and every client looks the same. `BENCH_SERVER=default` measures with the pool.
 */
const JVM_FLAGS = ['-XX:TieredStopAtLevel=4', '-Xmx1g'];
const ONE_THREAD = ['-Dzookeeper.nio.numSelectorThreads=1', '-Dzookeeper.nio.numWorkerThreads=0'];

export const BENCH_SERVER: ServerOptions = {
  tickTimeMs: 2_000,
  jvmFlags: process.env.BENCH_SERVER === 'default' ? JVM_FLAGS : [...JVM_FLAGS, ...ONE_THREAD],
};
