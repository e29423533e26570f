"""Runs a command, and delays each byte on its standard input and output: delay.py SECONDS COMMAND..."""
import collections
import os
import subprocess
import sys
import threading
import time

delay = float(sys.argv[1])


def write_all(fd, data):
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view):]


def write_later(queue, ready, fd):
    while True:
        with ready:
            ready.wait_for(lambda: queue)
            due, data = queue.popleft()
        time.sleep(max(0, due - time.monotonic()))
        if not data:
            os.close(fd)
            return
        write_all(fd, data)


def pump(source, target):
    queue, ready = collections.deque(), threading.Condition()
    threading.Thread(target=write_later, args=(queue, ready, target), daemon=True).start()
    while True:
        data = os.read(source, 1 << 16)
        with ready:
            queue.append((time.monotonic() + delay, data))
            ready.notify()
        if not data:
            return


child = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
threading.Thread(target=pump, args=(0, child.stdin.fileno()), daemon=True).start()
pump(child.stdout.fileno(), 1)
sys.exit(child.wait())
