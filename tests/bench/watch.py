"""Runs a command; prints its wall seconds, and its own peak memory (kB): of the process itself, not of its children.

   watch.py COMMAND ARGUMENT...

The peak is VmHWM, read from /proc until the end. A process that has ended has none: the last value that was read counts,
so very short ones may be a little low. The command's standard output goes to standard error.
"""
import subprocess
import sys
import time


def peak_of(pid):
    try:
        with open("/proc/%d/status" % pid) as lines:
            for line in lines:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    return 0


def main():
    begin = time.monotonic_ns()
    child = subprocess.Popen(sys.argv[1:], stdout=sys.stderr)
    peak = 0
    while True:
        peak = max(peak, peak_of(child.pid))
        try:
            status = child.wait(timeout=0.01)
            break
        except subprocess.TimeoutExpired:
            continue
    print("%.6f %d %d" % ((time.monotonic_ns() - begin) / 1e9, peak, begin))
    sys.exit(status)


main()
