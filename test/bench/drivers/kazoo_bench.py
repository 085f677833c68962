"""kazoo's Lock as a contestant: what it is told and what it answers is as in lock-worker.ts beside this file."""
import sys
import threading
import time

from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1], timeout=10.0)


def in_threads(count, work):
    failures = []

    def run(number):
        try:
            work(number)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def alone(key, duration_ms):
    lock = client.Lock(key)
    took_ms = []
    ends_at = time.monotonic() + duration_ms / 1000
    while True:
        started_at = time.monotonic()
        if started_at >= ends_at:
            break
        lock.acquire()
        took_ms.append((time.monotonic() - started_at) * 1000)
        lock.release()
    took_ms.sort()
    return {"p50": took_ms[int(len(took_ms) * 0.5)], "p99": took_ms[int(len(took_ms) * 0.99)]}


def spread(root, ways, duration_ms):
    cycles = [0] * ways
    cpu_before = time.process_time()
    started_at = time.monotonic()

    def cycle(way):
        lock = client.Lock("%s/%d" % (root, way))
        while time.monotonic() - started_at < duration_ms / 1000:
            lock.acquire()
            lock.release()
            cycles[way] += 1

    in_threads(ways, cycle)
    took = time.monotonic() - started_at
    cpu = time.process_time() - cpu_before
    return {"cyclesPerSecond": sum(cycles) / took, "cpuMicrosPerCycle": cpu * 1e6 / sum(cycles)}


def crowd(key, contenders, duration_ms):
    entered = [0] * contenders
    handed = 0
    last = None
    ends_at = time.monotonic() + duration_ms / 1000

    def contend(number):
        nonlocal handed, last
        lock = client.Lock(key)
        while time.monotonic() < ends_at:
            lock.acquire()
            if time.monotonic() < ends_at:
                entered[number] += 1
                handed += last != number
                last = number
            lock.release()

    in_threads(contenders, contend)
    return {"entered": sum(entered), "handed": handed, "fewest": min(entered), "most": max(entered)}


COMMANDS = {"alone": alone, "spread": spread, "crowd": crowd}

client.start(timeout=15)
print("start", "ok", sep="\t", flush=True)
for line in sys.stdin:
    command_id, command, key, *numbers = line.rstrip("\n").split("\t")
    try:
        figures = COMMANDS[command](key, *(int(number) for number in numbers))
        answer = ["ok"] + ["%s=%r" % figure for figure in figures.items()]
    except Exception as error:
        answer = ["failed", " ".join(repr(error).split())]
    print(command_id, *answer, sep="\t", flush=True)
client.stop()
