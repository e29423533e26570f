"""What the portal costs: portal.py TIDEMILL [--short]

Medians of seven starts; pages are asked for by a client on this machine. The watched job does nothing else than end its
mini-batches, which is as fast as rows can come; three tabs ask for the sections of its page that are new.
"""
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "portal"))
from client import Portal, next_event, wait_until  # noqa: E402

TIDEMILL = os.path.abspath(sys.argv[1])
IS_SHORT = "--short" in sys.argv
JOBS, ROWS, IDLE_S, STARTS = (20, 2000, 0.2, 2) if IS_SHORT else (1000, 1000000, 10, 7)
SECTIONS = ["result", "figures", "findings", "now", "failures", "steps", "time", "timeline", "durations", "workers",
            "settings", "files"]


def took_ms(action):
    began = time.perf_counter()
    action()
    return 1000 * (time.perf_counter() - began)


def memory_mb(portal):
    with open(f"/proc/{portal.pid()}/status") as f:
        return next(int(line.split()[1]) / 1024 for line in f if line.startswith("VmHWM"))


def switches(portal):
    """How often it has slept: a process that makes no system call never does."""
    with open(f"/proc/{portal.pid()}/status") as f:
        return sum(int(line.split()[1]) for line in f if "ctxt_switches" in line)


def start_job(folder, workspace, rows):
    with open(os.path.join(folder, "rows.csv"), "w") as f:
        f.write("x\n" + "1\n" * rows)
    with open(os.path.join(folder, "noop.lua"), "w") as f:
        f.write("function run(mini_batch) return {} end\n")
    return subprocess.Popen([TIDEMILL, "map", "noop.lua", "--rows", "rows.csv", "--mini-batch-size", "1"], cwd=folder,
                            env=dict(os.environ, TIDEMILL_WORKSPACE=workspace), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def keys(workspace):
    jobs = os.path.join(workspace, "jobs")
    return [name for name in os.listdir(jobs) if os.path.exists(os.path.join(jobs, name, "job.json"))] \
        if os.path.isdir(jobs) else []


def measure_list(workspace):
    starts, cold, warm = [], [], []
    for _ in range(STARTS):
        began = time.perf_counter()
        portal = Portal(TIDEMILL, workspace)
        starts.append(1000 * (time.perf_counter() - began))
        portal.login()
        cold.append(took_ms(lambda: portal.get("")))
        warm.append(took_ms(lambda: portal.get("")))
        megabytes = memory_mb(portal)
        portal.stop()
    print(f"start                          {statistics.median(starts):8.1f} ms")
    print(f"50 of {JOBS} jobs, first page    {statistics.median(cold):8.1f} ms")
    print(f"50 of {JOBS} jobs, next page     {statistics.median(warm):8.1f} ms   {megabytes:.0f} MB")


def measure_idle(workspace):
    portal = Portal(TIDEMILL, workspace)
    held = portal.descriptors()
    portal.get("")
    wait_until(lambda: portal.descriptors() == held, "the end of the connection")
    select.select([], [], [], 0.05)
    before = switches(portal)
    select.select([], [], [], IDLE_S)  # the time that is measured
    print(f"unwatched for {IDLE_S} s             {switches(portal) - before:8} times awake")
    portal.stop()


def watch(portal, key, late):
    """A tab. What it shows is the older, the longer the next news take, with their sections."""
    stream, heard = portal.stream(key), None
    while (news := next_event(stream)[1][key])["state"] == "Running":
        before, heard = heard, time.perf_counter()
        for section in news.get("sections", SECTIONS):
            portal.get(f"jobs/{key}/job/?section={section}")
        if before:
            late.append(time.perf_counter() - before)
    stream.close()


def measure_watched(folder, workspace):
    os.makedirs(os.path.join(workspace, "jobs"), mode=0o700)
    os.chmod(workspace, 0o700)
    portal = Portal(TIDEMILL, workspace)
    portal.login()
    job = start_job(folder, workspace, ROWS)
    wait_until(lambda: keys(workspace), "the job")
    key = keys(workspace)[0]
    began, ticks = time.perf_counter(), portal.ticks()
    late = []
    tabs = [threading.Thread(target=watch, args=(portal, key, late)) for _ in range(3)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    seconds = time.perf_counter() - began
    print(f"three tabs, {ROWS} mini-batches in {seconds:.1f} s: {(portal.ticks() - ticks) / seconds:.2f} % of a core, "
          f"{memory_mb(portal):.0f} MB")
    if late:
        print(f"an update is late by           {statistics.median(late):8.2f} s at the end of its time, at most {max(late):.2f} s")
    assert job.wait() == 0
    portal.stop()
    portal = Portal(TIDEMILL, workspace)
    portal.login()
    ticks = portal.ticks()
    print(f"its page, first                {took_ms(lambda: portal.get(f'jobs/{key}/job/')):8.1f} ms, "
          f"{10 * (portal.ticks() - ticks)} ms of processor time")
    print(f"its page, next                 {took_ms(lambda: portal.get(f'jobs/{key}/job/')):8.1f} ms   {memory_mb(portal):.0f} MB")
    portal.stop()


def main():
    folder = tempfile.mkdtemp(prefix="tidemill-bench-")
    try:
        many, one = os.path.join(folder, "many"), os.path.join(folder, "one")
        assert start_job(folder, many, 100).wait() == 0
        job = os.path.join(many, "jobs", keys(many)[0])
        for i in range(JOBS - 1):
            shutil.copytree(job, f"{job[:-11]}{i:06}-abcd", symlinks=True)
        measure_list(many)
        measure_idle(many)
        measure_watched(folder, one)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
