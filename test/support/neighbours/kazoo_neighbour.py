"""kazoo's locks in a process of their own, at a test's command; the README beside this file tells the commands."""
import os
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

# How kazoo is told of the contenders of other makes that stand in its way.
PATTERNS = {
    "exclusive": ["-lock-"],
    "write": ["__WRIT__", "__READ__"],
    "read": ["__WRIT__"],
    # As kazoo is without being told: it does not see us.
    "blind": [],
}
# Before 2.9 its ReadLock also waits for writers behind it, which wait for it: both would wait for ever
# (https://github.com/python-zk/kazoo/issues/649). So its readers give up, and ask again.
READER_PATIENCE_SECONDS = 0.25

client = KazooClient(hosts=sys.argv[1], timeout=10.0)
journal = os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
endings = {}
endings_lock = threading.Lock()
stdout_lock = threading.Lock()


def ending_of(command_id):
    with endings_lock:
        return endings.setdefault(command_id, threading.Event())


def answer(*words):
    with stdout_lock:
        sys.stdout.write("\t".join(words) + "\n")
        sys.stdout.flush()


def record(event, key, mode, name):
    """One line is one write at the end of the file: the lines of all processes stand in the order of what happened."""
    os.write(journal, "\t".join([event, key, mode, name, "kazoo"]).encode("utf-8") + b"\n")


def lock_for(mode, key):
    kinds = {"write": client.WriteLock, "read": client.ReadLock}
    return kinds.get(mode, client.Lock)(key, "kazoo's " + mode, extra_lock_patterns=PATTERNS[mode])


def take(mode, key, until):
    """Waits for the lock and returns it; None when `until` is set first."""
    while not until.is_set():
        lock = lock_for(mode, key)
        try:
            if lock.acquire(timeout=READER_PATIENCE_SECONDS if mode == "read" else None):
                return lock
        except LockTimeout:
            pass
    return None


def hold(command_id, mode, key):
    ending = ending_of(command_id)
    lock = take(mode, key, ending)
    if lock is not None:
        name = lock.node
        record("enter", key, mode, name)
        answer(command_id, "held", name)
        ending.wait()
        record("leave", key, mode, name)
        lock.release()
    answer(command_id, "ok")


def cycle(command_id, mode, key):
    ending = ending_of(command_id)
    rounds = 0
    while not ending.is_set():
        lock = take(mode, key, ending)
        if lock is None:
            break
        name = lock.node
        record("enter", key, mode, name)
        time.sleep(0.001)
        record("leave", key, mode, name)
        lock.release()
        rounds += 1
    answer(command_id, "ok", str(rounds))


def obey(words):
    command_id, command = words[:2]
    try:
        if command == "hold":
            hold(command_id, words[2], words[3])
        elif command == "cycle":
            cycle(command_id, words[2], words[3])
        elif command == "end":
            ending_of(words[2]).set()
            answer(command_id, "ok")
        elif command == "contenders":
            answer(command_id, "ok", *lock_for(words[2], words[3]).contenders())
        else:
            raise ValueError("no such command: " + command)
    except Exception as error:
        answer(command_id, "failed", " ".join(repr(error).split()))


client.start(timeout=15)
answer("start", "ok")
for line in sys.stdin:
    threading.Thread(target=obey, args=(line.rstrip("\n").split("\t"),), daemon=True).start()
client.stop()
