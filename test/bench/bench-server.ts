import type { ServerOptions } from '../support/zookeeper/options.js';

/** All of the JVM's compilers, and a heap that collects seldom. */
const JVM_FLAGS = ['-XX:TieredStopAtLevel=4', '-Xmx1g'];
const ONE_THREAD = ['-Dzookeeper.nio.numSelectorThreads=1', '-Dzookeeper.nio.numWorkerThreads=0'];

/**
 * A server that is as little as possible of what is measured: one thread reads, and writes, and hands nothing on to others. With
 * ZooKeeper's own pool of workers, two cores spend more on waking threads than on requests, and every client looks the same.
 */
export const BENCH_SERVER: ServerOptions = { tickTimeMs: 2_000, jvmFlags: [...JVM_FLAGS, ...ONE_THREAD] };

/** A server with the threads that ZooKeeper has by itself. */
export const POOL_SERVER: ServerOptions = { tickTimeMs: 2_000, jvmFlags: JVM_FLAGS };
