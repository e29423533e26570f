"""The portal beside real jobs, and beside other users: test_jobs.py TIDEMILL [CLASS.TEST]

Jobs are watched while they run, are killed, resumed and removed. The portal is killed at random while jobs run: five times,
or a hundred with TM_LONG=1; TM_SEED repeats the draw. Another user of the machine looks for what is private.
"""
import errno
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import unittest

from client import Portal, next_event, wait_until

sys.argv.insert(1, sys.argv[1])  # test_portal takes one away, too
import test_portal  # noqa: E402

TIDEMILL = os.path.abspath(sys.argv.pop(1))
NOBODY = 65534

setUpModule, tearDownModule = test_portal.setUpModule, test_portal.tearDownModule


class Jobs(test_portal.Case):
    def tidemill(self, *arguments):
        return subprocess.Popen([TIDEMILL, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=dict(os.environ, TIDEMILL_WORKSPACE=self.workspace))

    def result(self, key):
        """What the page of the job says now, without its markup."""
        a = self.portal.get(f"jobs/{key}/job/?section=result")
        self.assertEqual(a.status, 200)
        return re.sub(r"<[^>]*>", " ", a.text())


def wait_for(stream, key, renewed=None, **wanted):
    """Reads the stream until the state of the job has these values; `renewed` gets the names of sections that are new."""
    while True:
        news = next_event(stream)[1].get(key, {})
        if renewed is not None and news:
            renewed.update(news["sections"])  # without them, all may be new
        if all(news.get(name) == value for name, value in wanted.items()):
            return news


class Watched(Jobs):
    def watch(self, key):
        stream = self.portal.stream(f"{key},jobs")
        self.addCleanup(stream.close)
        return stream

    def timeline(self, key):
        return self.portal.get(f"jobs/{key}/job/?section=timeline").text()

    def begin_and_kill(self, name):
        """A job that is watched from its begin until its supervisor was killed, when two of three mini-batches are done."""
        job, key, go = test_portal.begin(self, name, "--mini-batch-size", "1", item="two")
        stream = self.watch(key)
        wait_for(stream, key, state="Running", done=2)
        self.assertIn("Running", self.result(key))
        wait_until(lambda: "did over time: 2 tries, 0 failed" in self.timeline(key), "its tries")
        job.kill()
        job.wait()
        self.assertEqual(wait_for(stream, key, state="Interrupted")["done"], 2)
        self.assertIn("Interrupted", self.result(key))
        return key, go, stream

    def test_a_job_is_killed_resumed_and_removed(self):
        self.portal.get("")
        before = self.portal.descriptors()
        key, go, stream = self.begin_and_kill("watched")
        job = self.tidemill("resume", key)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        wait_for(stream, key, state="Running")
        self.assertIn("Running", self.result(key))
        self.write(os.path.join(go, "go"), "")
        news = wait_for(stream, key, state="Completed")
        self.assertEqual((news["title"], news["done"], news["failed"]), ("✓ watched", 3, 0))
        self.assertEqual(job.wait(), 0)
        timeline = self.timeline(key)  # of all sessions
        self.assertEqual(re.findall(r"<title>session (\d), from [^<]*: ([^<]*)</title>", timeline),
                         [("1", "2 mini-batches, Interrupted"), ("2", "1 mini-batch, Completed")])
        self.assertIn("did over time: 3 tries, 0 failed", timeline)
        names = set(re.findall(r"data-live=['\"]([\w-]+)", self.portal.get(f"jobs/{key}/job/").text()))
        section = lambda name, **headers: self.portal.get(f"jobs/{key}/job/?section={name}", **headers)
        tags, renewed = {name: section(name).header("ETag") for name in names}, set()
        self.assertEqual(self.tidemill("clean", key, "--yes").wait(), 0)
        self.expect_removed(key, stream, renewed)
        self.assertIn("result", renewed)
        self.assertLess(renewed, names)
        for name in names - renewed:
            self.assertEqual(section(name, If_None_Match=tags[name]).status, 304, name)
        self.assertIn("Completed", self.result(key))
        stream.close()
        wait_until(lambda: self.portal.descriptors() <= before, "its descriptors are closed")

    def test_a_folder_is_removed_by_hand(self):
        key, _, stream = self.begin_and_kill("folder")
        shutil.rmtree(os.path.join(self.workspace, "jobs", key))
        self.expect_removed(key, stream)
        stream.close()
        self.portal.stop()
        Watched.portal = Portal(TIDEMILL, self.workspace)
        self.expect_pages_of_removed(key)  # another portal has never seen its files

    def expect_removed(self, key, stream, renewed=None):
        news = wait_for(stream, key, renewed, state="Removed")
        self.assertEqual(news["title"], f"– {key}")
        self.expect_pages_of_removed(key)
        wait_until(lambda: key not in self.portal.get("").text(), "the list without it")

    def expect_pages_of_removed(self, key):
        self.assertIn("The files of this job have been removed", self.result(key))
        page = self.portal.get(f"jobs/{key}/job/")
        self.assertEqual(page.status, 200)
        self.assertNotIn("Resume…", page.text())
        self.assertIn(f"<title>– {key}</title>", page.text())
        for path in ("steps/x", "mini-batches/x/0", "workers/x/process000", "nodes/0", "logs", "files/", "view/end/job.json"):
            self.assertEqual(self.portal.get(f"jobs/{key}/{path}").status, 404, path)


class Killed(Jobs):
    """The portal is killed at random moments while jobs run, one after the other."""

    def begin_job(self):
        log = os.path.join(self.folder, f"rows-{len(self.begun)}.txt")
        with open(log, "w") as f:
            job = subprocess.Popen([TIDEMILL, "map", "rows.lua", "--rows", "rows.csv", "--mini-batch-size", "1"], stdout=f,
                                   stderr=f, cwd=self.folder, env=dict(os.environ, TIDEMILL_WORKSPACE=self.workspace))
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        jobs = os.path.join(self.workspace, "jobs")
        fresh = lambda: [key for key in os.listdir(jobs) if key.startswith("rows-") and key not in self.begun and
                         os.path.exists(os.path.join(jobs, key, "job.json"))]
        self.begun[wait_until(fresh, "the job")[0]] = job, log

    def look(self, key, draw):
        """Looks at the job in one of the ways of a browser; the portal may be at it when this returns."""
        way = draw.randrange(4)
        if way == 0:
            self.portal.get(f"jobs/{key}/job/")
        elif way == 1:
            stream = self.portal.stream(f"{key},jobs")
            self.addCleanup(stream.close)
            next_event(stream)
        else:
            path = f"jobs/{key}/logs" if way == 2 else f"jobs/{key}/job/"
            s = self.portal.connect()  # nobody reads the answer
            self.addCleanup(s.close)
            s.sendall((f"GET /{self.portal.prefix}/{path} HTTP/1.1\r\nHost: localhost\r\n"
                       f"Cookie: {self.portal.login()}\r\n\r\n").encode())
            select.select([], [], [], draw.uniform(0, 0.01))  # the random moment

    def test_every_output_verifies(self):
        seed = int(os.environ.get("TM_SEED", random.randrange(1 << 30)))
        draw, rows = random.Random(seed), 20000
        self.write("rows.csv", "x\n" + "1\n" * rows)
        self.write("rows.lua", "function run(mini_batch) return mini_batch end")
        self.begun = {}
        for _ in range(100 if "TM_LONG" in os.environ else 5):
            if not self.begun or list(self.begun.values())[-1][0].poll() is not None:
                self.begin_job()
            self.look(list(self.begun)[-1], draw)
            self.portal.stop(signal.SIGKILL)
            Killed.portal = Portal(TIDEMILL, self.workspace)
        for key, (job, log) in self.begun.items():
            with open(log) as f:
                self.assertEqual(job.wait(), 0, f"TM_SEED={seed}: {f.read()}")
            self.assertEqual(self.tidemill("verify", key).wait(), 0, f"TM_SEED={seed}")
            with open(os.path.join(self.workspace, "jobs", key, "rows", "output", "parallel_run_step.txt")) as f:
                self.assertEqual(len(f.readlines()), rows, f"TM_SEED={seed}")


def as_nobody(look):
    """What look() returns in a process of another user."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(write, json.dumps(look()).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        said = f.read()
    os.waitpid(pid, 0)
    return json.loads(said)


def attempt(call, *arguments):
    """0, or the number of the error."""
    try:
        call(*arguments)
        return 0
    except OSError as e:
        return e.errno


def read_file(path):
    with open(path, "rb") as f:
        return f.read()


def connect(path):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)


def processes_with(text):
    """The files of /proc that show the text in the command line or the environment of any process."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            try:
                if text.encode() in read_file(f"/proc/{pid}/{name}"):
                    found.append(f"{pid}/{name}")
            except OSError:
                pass  # it has ended, or is of another user
    return found


class Others(Jobs):
    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(cls.folder, "socket")
        cls.portal = Portal(TIDEMILL, cls.workspace, "--socket", cls.path, address=cls.path)

    @unittest.skipUnless(os.getuid() == 0, "only root can become another user")
    def test_another_user_reads_nothing_private(self):
        report = os.path.join(self.job, "report.html")
        self.assertEqual(self.tidemill("report", self.job).wait(), 0)
        private = [os.path.join(self.workspace, name) for name in ("portal.json", "portal_address.json")] + [report]
        public = os.path.join(self.folder, "public")
        self.write(public, "")
        os.chmod(public, 0o644)
        # Only the modes of the files themselves keep others out.
        for folder in (self.folder, self.workspace, os.path.join(self.workspace, "jobs"), self.job):
            mode = stat.S_IMODE(os.stat(folder).st_mode)
            os.chmod(folder, 0o755)
            self.addCleanup(os.chmod, folder, mode)
        if as_nobody(lambda: attempt(read_file, public)) != 0:
            self.skipTest(f"nobody else can reach {self.folder} at all")
        pid = self.portal.pid()

        def look():
            return [[attempt(read_file, path) for path in private], attempt(connect, self.path),
                    attempt(os.listdir, f"/proc/{pid}/fd"), attempt(read_file, f"/proc/{pid}/environ"),
                    processes_with(self.portal.token)]

        refused = errno.EACCES
        self.assertEqual(as_nobody(look), [[refused] * 3, refused, refused, refused, []])

    def test_no_process_shows_the_token(self):
        self.assertEqual(processes_with(self.portal.token), [])
        self.assertEqual(processes_with(self.portal.login()), [])

    def test_no_process_and_no_descriptor_is_left(self):
        for n, sig in enumerate((signal.SIGTERM, signal.SIGKILL)):
            mark = f"TM_PORTAL_OF_{os.getpid()}_{n}"
            self.portal.stop()
            Others.portal = portal = Portal(TIDEMILL, self.workspace, "--allow-control", env={mark: "1"})
            portal.get(f"jobs/{self.key}/job/")
            stream = portal.stream(f"{self.key},jobs")
            self.assertGreater(len(processes_with(mark)), 1)  # it has helpers
            portal.stop(sig)  # returns when nobody has its standard error
            stream.close()
            wait_until(lambda: not processes_with(mark), "the end of its helpers")
            self.assertFalse(os.path.exists(os.path.join(self.workspace, "portal.json")))
            Others.portal = Portal(TIDEMILL, self.workspace, "--socket", self.path, address=self.path)


if __name__ == "__main__":
    unittest.main()
