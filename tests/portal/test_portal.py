"""The portal over its sockets: test_portal.py TIDEMILL [CLASS.TEST]

TM_LONG=1: also what takes ten seconds.
"""
import ctypes
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

from client import Answer, Portal, is_alive, next_event, read_all, wait_until

TIDEMILL = os.path.abspath(sys.argv.pop(1))
SCRIPT = """
function run(mini_batch)
  local rows = {}
  for i, item in ipairs(mini_batch) do
    print "<script>canary()</script>"
    if item:find "bad" then error("cannot read <img src=x onerror=canary()> " .. item) end
    rows[i] = item
  end
  return rows
end
"""
# Fails until the file `mended` exists; then it ends when `go` exists.
FAILING = """
function run(mini_batch)
  if not io.open "FOLDER/mended" then error "not yet" end
  io.open("FOLDER/begun", "w"):close()
  while not io.open "FOLDER/go" do end
  return mini_batch
end
"""
# Ends when the file `go` exists.
WAITING = """
function run(mini_batch)
  local fs = require "tidemill.fs"
  while not io.open "FOLDER/go" do end
  return mini_batch
end
"""
# The same for the item ITEM; `begun` says that it runs.
BEGINNING = """
function run(mini_batch)
  local time = os.clock()
  while os.clock() - time < 0.001 do end
  if not mini_batch[1]:find "ITEM" then return mini_batch end
  io.open("FOLDER/begun", "w"):close()
  while not io.open "FOLDER/go" do end
  return mini_batch
end
"""

# Once the file `waits` exists, which a shell reads, it writes who it is, waits for the FIFO `go`,
# and leaves two programs behind, one in a session of its own.
REPLAYED = """
function run(mini_batch)
  if io.open "FOLDER/waits" then
    print "<script>canary()</script>"
    os.execute [[cd FOLDER; . ./waits; echo $PPID $$ >pids; echo begun
      read line <go; cat <never & echo $! >>pids
      setsid cat never & echo $! >>pids]]
  end
  return { mini_batch[1] }
end
"""


def run_job(script, folder, workspace, *options, stderr=subprocess.DEVNULL):
    environment = dict(os.environ, TIDEMILL_WORKSPACE=workspace)
    return subprocess.Popen([TIDEMILL, "map", script, "in/*", *options], cwd=folder, env=environment,
                            stdout=subprocess.DEVNULL, stderr=stderr, text=True)


def setUpModule():
    """A workspace with one job, for all tests."""
    Case.folder = os.path.realpath(tempfile.mkdtemp(prefix="tidemill-portal-"))
    Case.workspace = os.path.join(Case.folder, "workspace")
    os.mkdir(os.path.join(Case.folder, "in"))
    for name in ("one", "two", "bad <u>\u202e.txt"):
        with open(os.path.join(Case.folder, "in", name), "w") as f:
            f.write(name)
    Case.write("score.lua", SCRIPT)
    run_job("score.lua", Case.folder, Case.workspace, "--mini-batch-size", "1").wait()
    Case.key = os.listdir(os.path.join(Case.workspace, "jobs"))[0]
    Case.job = os.path.join(Case.workspace, "jobs", Case.key)


def tearDownModule():
    shutil.rmtree(Case.folder)


class Case(unittest.TestCase):
    """A portal of the workspace."""

    @classmethod
    def setUpClass(cls):
        cls.portal = Portal(TIDEMILL, cls.workspace)

    @classmethod
    def tearDownClass(cls):
        cls.portal.stop()

    @classmethod
    def write(cls, name, text):
        with open(os.path.join(cls.folder, name), "w") as f:
            f.write(text)

    def assert_gone(self, count):
        """The processes of a replay of make_replayed()."""
        with open(os.path.join(self.go, "pids")) as f:
            pids = [int(pid) for pid in f.read().split()]
        self.assertEqual(len(pids), count)
        wait_until(lambda: not any(is_alive(pid) for pid in pids), f"the end of {pids}")

    def log_numbers(self):
        """Adds 9,000 lines to the logs of the job, some of them long, until the end of the test."""
        folder = os.path.join(self.job, "score", "logs", "user", "entry_script_log", "0")
        os.makedirs(folder, exist_ok=True)
        self.numbers = os.path.join(folder, "numbers.txt")
        with open(self.numbers, "w") as f:
            f.write("".join(f"number {i};{'x' * (4000 if 1000 < i < 1400 else i % 7 * 50)}\n" for i in range(9000)))
        self.addCleanup(os.unlink, self.numbers)


def begin(case, name, *options, item=""):
    """A job whose mini-batch with this text in its first item runs, the name of its folder, and the folder where `go` lets it
    end. Other mini-batches take a millisecond: a worker sends results less often."""
    go = os.path.join(case.folder, name)
    os.mkdir(go)
    case.write(f"{name}.lua", BEGINNING.replace("FOLDER", go).replace("ITEM", item))
    job = run_job(f"{name}.lua", case.folder, case.workspace, *options)
    case.addCleanup(job.wait)
    case.addCleanup(job.kill)
    jobs = os.path.join(case.workspace, "jobs")
    found = lambda: [one for one in os.listdir(jobs) if one.startswith(name + "-")]
    begun = os.path.join(go, "begun")
    wait_until(lambda: os.path.exists(begun), "a mini-batch that runs")
    os.unlink(begun)
    return job, found()[0], go


def make_replayed(case):
    """The key of a job of REPLAYED, whose replays wait for a file in case.go."""
    case.go = os.path.join(case.folder, "replayed")
    os.mkdir(case.go)
    for name in ("go", "never"):
        os.mkfifo(os.path.join(case.go, name))
    case.write("replayed.lua", REPLAYED.replace("FOLDER", case.go))
    run_job("replayed.lua", case.folder, case.workspace, "--mini-batch-size", "1").wait()
    case.write(os.path.join(case.go, "waits"), "")
    return next(name for name in os.listdir(os.path.join(case.workspace, "jobs")) if name.startswith("replayed-"))


class Access(Case):
    def test_the_token_becomes_a_cookie(self):
        a = self.portal.get(f"?token={self.portal.token}", cookie=False)
        self.assertEqual(a.status, 303)
        self.assertEqual(a.header("Location"), f"/{self.portal.prefix}/")
        self.assertEqual(a.header("Referrer-Policy"), "no-referrer")
        cookie = a.cookies()[0]
        self.assertRegex(cookie, r"^tidemill=[0-9a-f]{64}; Path=/[0-9a-f]{16}/; HttpOnly; SameSite=Strict$")
        self.assertNotIn(self.portal.token, cookie)
        a = self.portal.get(f"jobs/{self.key}?token={self.portal.token}", cookie=False)
        self.assertEqual(a.header("Location"), f"/{self.portal.prefix}/jobs/{self.key}")

    def test_a_stranger_lands_on_the_page_that_was_asked_for(self):
        way = {"Sec_Fetch_Site": "none", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
        a = self.portal.get(f"jobs/{self.key}/logs", cookie=False, **way)
        self.assertEqual(a.status, 401)
        self.assertIn("token", a.text())
        self.assertNotIn(self.portal.token, a.text())
        asked = a.cookies()[0].split(";")[0]
        a = self.portal.get(f"?token={self.portal.token}", cookie=asked, **way)
        self.assertEqual(a.header("Location"), f"/{self.portal.prefix}/jobs/{self.key}/logs")
        a = self.portal.get("x;Domain=evil.example", cookie=False, **way)
        self.assertEqual((a.status, a.cookies()), (401, []))
        for elsewhere in ("//evil.example/", "http://evil.example/", "/other/page", "/../x"):
            a = self.portal.get(f"?token={self.portal.token}", cookie=f"tidemill-next={elsewhere}", **way)
            self.assertEqual(a.header("Location"), f"/{self.portal.prefix}/")

    def test_what_is_wrong_is_refused(self):
        get, good = self.portal.get, self.portal.login()
        self.assertEqual(get("").status, 200)
        cases = [
            (401, get("", cookie=False)),
            (401, get("", cookie="tidemill=" + "0" * 64)),
            (401, get("?token=" + "0" * 64)),
            (401, get("?token=")),
            (421, get("", host="evil.example")),
            (421, get("", host="localhost.evil.example:80")),
            (400, get("", host=None)),
            (403, get("", Sec_Fetch_Site="cross-site")),
            (403, get("", Sec_Fetch_Site="same-site", Sec_Fetch_Mode="cors")),
            (403, get("", Origin="http://evil.example")),
            (403, get("", Origin="null")),
            (405, get("", method="POST")),
            (405, get("", method="DELETE")),
            (404, get("/", cookie=False)),
            (404, get("/nothing", cookie=good)),
            (404, get("nothing")),
            (404, get("jobs/nothing/job/")),
        ]
        for i, (status, answer) in enumerate(cases):
            self.assertEqual(answer.status, status, i)
            self.assertNotIn("Access-Control", str(answer.headers))
            if status != 400:
                self.assertEqual(answer.header("X-Content-Type-Options"), "nosniff")
        self.assertEqual(get("", method="POST").header("Allow"), "GET, HEAD")
        self.assertNotIn(self.portal.prefix, get("/", cookie=False).text())

    def test_another_port_of_a_tunnel_is_accepted(self):
        self.assertEqual(self.portal.get("", host="localhost:8080", Origin="http://localhost:8080").status, 200)
        self.assertEqual(self.portal.get("", host="[::1]:9").status, 200)

    def test_paths_lead_nowhere_else(self):
        files = f"/{self.portal.prefix}/jobs/{self.key}/files"
        outside = ["/..", "/../x", "/%2e%2e/x", "/.%2E/x", "//etc/passwd", "/%2fetc%2fpasswd", "/a%00b", "/%",
                   "/a\\..\\b", "/\xc3\xa9"]
        for path in outside:
            self.assertEqual(self.portal.get(files + path).status, 400, path)
        self.assertEqual(self.portal.get(f"/{self.portal.prefix}/jobs/%2e%2e/files/").status, 400)
        self.assertEqual(self.portal.get("jobs/.hidden/files/").status, 404)
        self.assertEqual(self.portal.get("http://evil.example/", cookie=False).status // 100, 4)
        os.mkfifo(os.path.join(self.job, "fifo"))
        os.symlink("/etc/passwd", os.path.join(self.job, "link"))
        os.symlink("/dev/zero", os.path.join(self.job, "device"))
        os.symlink("job.json", os.path.join(self.job, "inner"))
        for name, status in (("fifo", 404), ("link", 404), ("device", 404), ("inner", 200)):
            self.assertEqual(self.portal.get(f"{files}/{name}").status, status, name)
        self.assertIn("leads out of the job", self.portal.get(f"{files}/").text())

    def test_metrics_take_the_token_as_a_bearer(self):
        bearer = f"Bearer {self.portal.token}"
        for path in ("/metrics", "metrics"):
            a = self.portal.get(path, cookie=False, Authorization=bearer)
            self.assertEqual(a.status, 200)
            self.assertIn("openmetrics-text", a.header("Content-Type"))
            self.assertIn(f'job="{self.key}"', a.text())
            self.assertTrue(a.text().endswith("# EOF\n"))
            self.assertEqual(self.portal.get(path, cookie=False, Authorization="Bearer x").status, 401)
        self.assertEqual(self.portal.get("metrics").status, 200)
        self.assertEqual(self.portal.get("metrics", cookie=False).status, 401)
        self.assertEqual(self.portal.get("/metrics", cookie=False).status, 404)
        self.assertEqual(self.portal.get("", cookie=False, Authorization=bearer).status, 401)

    def test_wrong_tokens_are_counted(self):
        request = f"GET /{self.portal.prefix}/?token=x HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        answers = self.portal.raw(request * 40 + request[:-2] + b"Connection: close\r\n\r\n")
        wrong, refused = answers.count(b"HTTP/1.1 401"), answers.count(b"HTTP/1.1 429")
        self.assertEqual(wrong + refused, 41)
        self.assertGreater(refused, 0)
        self.assertLessEqual(wrong, 30)  # at most ten in each of the seconds that this takes
        wait_until(lambda: self.portal.get("").status == 200, "the portal forgives")


class Pages(Case):
    def test_every_page_is_complete(self):
        kilobytes = os.path.getsize(os.path.join(self.job, "score", "logs", "readme.txt")) / 1024
        pages = {
            "": [self.key, "!</i>Completed with failures<", " in all"],
            "?q=with+failures": [self.key],
            "?q=nothing": ["No job matches"],
            f"jobs/{self.key}/job/": ["<title>! score</title>", "!</i> Completed with failures<", "Failures", "score", "report.js", "../workers/score/process000",
                                      "../mini-batches/score/"],
            f"jobs/{self.key}/steps/score": ["!</i>Completed with failures<", "mini-batches:", "process000"],
            f"jobs/{self.key}/mini-batches/score/0": ["tidemill replay"],
            f"jobs/{self.key}/workers/score/process000": ["started", "What it logged"],
            f"jobs/{self.key}/nodes/0": ["process000"],
            f"jobs/{self.key}/files/": ["job.json", "score/"],
            f"jobs/{self.key}/files/score/logs/": ["readme.txt", "user/"],
            f"jobs/{self.key}/view/0/score/logs/readme.txt": ["the whole file", f", {kilobytes:.1f} KB<"],
            f"jobs/{self.key}/logs": ["process000"],
            f"jobs/{self.key}/logs/errors": ["cannot read"],
            f"jobs/{self.key}/logs/step/score": ["process000"],
            f"jobs/{self.key}/logs/worker/process000": ["process000"],
            f"jobs/{self.key}/logs/node/0": ["process000"],
            "datasets": ["tidemill dataset register"],
        }
        for page, words in pages.items():
            a = self.portal.get(page)
            self.assertEqual(a.status, 200, page)
            self.assertIn("script-src 'self'", a.header("Content-Security-Policy"))
            for word in words:
                self.assertIn(word, a.text(), page)
            if page.startswith("jobs/") and not page.endswith("/job/"):
                self.assertRegex(a.text(), f"<title>[^<]+ · {self.key}</title>", page)
                self.assertIn(f"<b><bdi>{self.key}</bdi></b>", a.text(), page)
            for hostile in ("<script>canary", "<img src=x", "<u>", "\u202e", "onerror=canary()>"):
                self.assertNotIn(hostile, a.text(), page)
        leads = {f"jobs/{self.key}": f"jobs/{self.key}/job/", f"jobs/{self.key}/": f"jobs/{self.key}/job/",
                 f"jobs/{self.key}/job/score/a%20b": f"jobs/{self.key}/view/0/score/a%20b",
                 f"jobs/{self.key}/view/0/score?x": f"jobs/{self.key}/files/score/",
                 f"jobs/{self.key}/files": f"jobs/{self.key}/files/"}
        a = self.portal.get(f"jobs/{self.key}/mini-batch?step=score&n=2")
        self.assertEqual((a.status, a.header("Location")), (303, "mini-batches/score/2"))
        for query in ("", "?step=score", "?step=score&n=x", "?n=1", "?step=..%2Fx&n=1", "?step=a%0d%0ab&n=1"):
            self.assertNotIn("//", self.portal.get(f"jobs/{self.key}/mini-batch{query}").header("Location") or "")
        for page, goal in leads.items():
            a = self.portal.get(page)
            self.assertEqual((a.status, a.header("Location")), (303, f"/{self.portal.prefix}/{goal}"))
        a = self.portal.get(f"jobs/{self.key}/report.html")
        self.assertEqual((a.status, a.header("Content-Disposition")), (200, "attachment"))
        self.assertTrue(a.text().startswith("<!doctype html>"))

    def test_what_is_not_there_is_404_in_a_sentence(self):
        worker, node = "has had no worker of this name.", "has had no node of this number."
        missing = {"steps/no": "has no step of this name.", "workers/no/x": "has no step of this name.",
                   "workers/score/process099": worker, "workers/score/x": worker, "nodes/7": node, "nodes/x": node,
                   "mini-batches/score/x": "has a number, from 0.", "logs/no": "errors, step, worker or node.",
                   "mini-batches/score/99999": "Step &#39;score&#39; has no mini-batch 99999; it has 3, numbered from 0.",
                   "logs/step/no": "There is no step &#39;no&#39;; known: score.", "view/0/no": "&#39;no&#39;", "files/no": "&#39;no&#39;"}
        for page, words in missing.items():
            self.expect_missing(f"jobs/{self.key}/{page}", words)
        for page in ("job/", "steps/x", "mini-batches/x/0", "workers/x/y", "nodes/0", "logs", "files/", "view/0/x", "report.html"):
            self.expect_missing(f"jobs/nope/{page}", "The workspace has no job &#39;nope&#39;. It may have been removed.")

    def expect_missing(self, page, words):
        a = self.portal.get(page)
        self.assertEqual(a.status, 404, page)
        main = a.text().partition("<main")[2]
        self.assertIn(words.replace("&#39;", "'"), main.replace("&#39;", "'"), page)
        self.assertNotIn("tidemill replay", main)
        self.assertNotIn(self.workspace, main)  # the header has it

    def test_commands_in_messages_are_code(self):
        text = self.portal.get("", cookie=False).text()
        self.assertIn("<code>tidemill portal</code>", text)
        self.assertNotIn("`", text)

    def test_a_line_without_text_is_a_line(self):
        name = os.path.join(self.job, "score", "logs", "blank.txt")
        with open(name, "w") as f:
            f.write("one\n\nthree\n")
        self.addCleanup(os.unlink, name)
        self.assertIn("<div><span>one</span></div><div><span><br/></span></div><div><span>three</span></div>",
                      self.portal.get(f"jobs/{self.key}/view/0/score/logs/blank.txt").text())

    def test_a_mini_batch_has_all_log_lines_of_its_time(self):
        page = lambda: self.portal.get(f"jobs/{self.key}/mini-batches/score/1").text()
        worker, day, time = re.search(r"at (process\d+);.*; began (\S+)T(\S+)\d\d\dZ, ", page()).groups()
        folder = os.path.join(self.job, "score", "logs", "user", "entry_script_log", "0")
        os.makedirs(folder, exist_ok=True)
        name = os.path.join(folder, f"{worker}.log.txt")
        head = f"{day} {time.replace('.', ',')}|INFO|1|{worker}|"
        with open(name, "w") as f:
            f.write(f"{head}10 %\r{head}a\0b\n{head}{'x' * 100000}\n{head}last <i>\n2001-01-01{head[10:]}older\n")
        self.addCleanup(os.unlink, name)
        text = page()
        for words in ("a\u2400b", "xxx … ", " more bytes", "last &lt;i&gt;"):
            self.assertIn(words, text)
        self.assertNotIn("10 %", text)
        self.assertNotIn("older", text)
        self.assertLess(len(text), 20000)

    def test_a_section_comes_alone_and_once(self):
        a = self.portal.get(f"jobs/{self.key}/job/?section=result")
        self.assertEqual(a.status, 200)
        self.assertNotIn("<html", a.text())
        tag = a.header("ETag")
        again = self.portal.get(f"jobs/{self.key}/job/?section=result", If_None_Match=tag)
        self.assertEqual((again.status, again.body), (304, b""))

    def test_files_are_sent_in_ranges_and_never_as_pages(self):
        path = f"jobs/{self.key}/files/job.json"
        with open(os.path.join(self.job, "job.json"), "rb") as f:
            whole = f.read()
        a = self.portal.get(path)
        self.assertEqual(a.body, whole)
        self.assertEqual(a.header("Content-Type"), "text/plain; charset=utf-8")
        self.assertIn("sandbox", a.header("Content-Security-Policy"))
        a = self.portal.get(path, Range="bytes=5-9")
        self.assertEqual((a.status, a.body), (206, whole[5:10]))
        self.assertEqual(a.header("Content-Range"), f"bytes 5-9/{len(whole)}")
        self.assertEqual(self.portal.get(path, Range=f"bytes={len(whole)}-").status, 416)
        a = self.portal.get(path, method="HEAD")
        self.assertEqual((a.header("Content-Length"), a.body), (str(len(whole)), b""))
        with open(os.path.join(self.job, "page.html"), "wb") as f:
            f.write(b"<script>canary()</script>")
        self.assertIn("text/plain", self.portal.get(f"jobs/{self.key}/files/page.html").header("Content-Type"))
        with open(os.path.join(self.job, "bytes"), "wb") as f:
            f.write(b"\0\1\2" * 10)
        a = self.portal.get(f"jobs/{self.key}/files/bytes")
        self.assertEqual(a.header("Content-Disposition"), "attachment")

    def test_any_log_can_be_looked_at(self):
        name = os.path.join(self.job, "score", "logs", "long.txt")
        with open(name, "wb") as f:
            f.write(b"first\n")
            f.truncate(1 << 30)  # a line of 1 GB
            f.seek(0, os.SEEK_END)
            f.write(b"\nover\rwritten\n\x1b[31mred\x1b[0m\0\nneedle <i>\nlast")
        view = f"jobs/{self.key}/view/%s/score/logs/long.txt"
        for where in ("0", "7", "before-1000000", "500000000"):
            a = self.portal.get(view % where)
            self.assertEqual(a.status, 200, where)
            self.assertLess(len(a.body), 20000, where)
        end = self.portal.get(view % "end").text()
        for words in ("written", "red\u2400", "needle &lt;i&gt;", "last"):
            self.assertIn(words, end)
        self.assertNotIn("over", end.split("class='log'")[1])
        found = self.portal.get(view % str((1 << 30) - 100) + "?find=needle").text()
        self.assertIn("needle", found.split("class='log'")[1])
        self.assertIn("search again", self.portal.get(view % "0" + "?find=needle").text())
        self.assertIn("not in the rest", self.portal.get(view % str(1 << 30) + "?find=nothing").text())
        os.truncate(name, 3)
        self.assertEqual(self.portal.get(view % "500000000").status, 200)
        os.unlink(name)
        self.assertEqual(self.portal.get(view % "0").status, 404)

    def test_the_merged_view_has_positions_and_a_search(self):
        self.log_numbers()

        def get(path):
            """The text of a part when it has been read, and the numbers and positions in it."""
            part = lambda: self.portal.get(f"jobs/{self.key}/logs{path}").text()
            text = wait_until(lambda: (lambda text: "data-more" not in text and text)(part()), path)
            lines = text.split("class='log merged'")[1]
            found = [int(n) for n in re.findall(r"number (\d+);", lines)]
            place = {name: int(n) for name, n in re.findall(r"data-(from|to|lines)=['\"](\d+)", lines)}
            return text, found, place

        text, found, place = get("")
        self.assertEqual(place["to"] - place["from"], 2000)
        self.assertIn(f"/before/{place['from']}'", text.replace('"', "'"))
        _, earlier, before = get(f"/before/{place['from']}")
        self.assertEqual(before["to"], place["from"])
        self.assertEqual(earlier + [found[0]], list(range(earlier[0], found[0] + 1)))
        _, again, at = get(f"/at/{before['from']}")
        self.assertEqual((at["from"], again[0]), (before["from"], earlier[0]))
        for path in ("/at/1100", "/before/1350"):  # at most 1 MB
            _, found, part = get(path)
            self.assertTrue(200 < part["to"] - part["from"] == len(found) < 300, part)
        self.assertEqual(get("/before/0")[1], [])
        self.assertEqual(get("/at/99999999")[1], [])
        self.assertEqual(self.portal.get(f"jobs/{self.key}/logs/at/x").status, 404)
        self.assertEqual(get("/errors/at/0")[1], [])
        text, found, _ = get("?find=number%204")
        self.assertEqual(found, [4] + list(range(40, 50)) + list(range(400, 500)) + list(range(4000, 5000)))
        self.assertIn("contain the text", text)
        where = re.search(r"logs(/at/\d+)['\"]>", text.split("class='log merged'")[1])[1]
        self.assertIn(4, get(where)[1])
        self.assertIn("0 lines of", get("?find=%3Cnothing%3E")[0])

    def test_scripts_and_styles_need_no_cookie(self):
        for name, kind in (("/portal.css", "text/css"), ("/portal.js", "text/javascript"), ("/portal.svg", "image/svg")):
            a = self.portal.get(name, cookie=False)
            self.assertEqual(a.status, 200)
            self.assertIn(kind, a.header("Content-Type"))


class Live(Case):
    def test_a_stream_says_what_is_new_until_the_end(self):
        self.write("wait.lua", WAITING.replace("FOLDER", self.folder))
        job = run_job("wait.lua", self.folder, self.workspace, stderr=subprocess.PIPE)
        jobs = os.path.join(self.workspace, "jobs")
        started = lambda: [name for name in os.listdir(jobs) if name.startswith("wait-") and
                           os.path.exists(os.path.join(jobs, name, "job.json"))]
        wait_until(started, "the job")
        key = started()[0]
        deaf = self.portal.stream(key)  # nobody reads it
        self.assertEqual(self.portal.get(f"events?topics={key}", method="HEAD").status, 200)
        self.portal.stream("nothing,../x").close()
        stream = self.portal.stream(f"{key},jobs")
        self.addCleanup(job.kill)
        states = {}
        while set(states) != {key, "jobs"}:
            last, news = next_event(stream)
            states.update(news)
        self.assertEqual(states[key]["state"], "Running")
        self.assertIn("wait", states[key]["title"])
        wait_until(lambda: "1 running" in self.portal.get("").text(), "the job in the list")
        page = lambda: self.portal.get(f"jobs/{key}/job/").text()
        wait_until(lambda: "Right now" in page(), "the mini-batch that waits")
        self.assertRegex(page(), r"Right now.*mini-batches/[^/]+/0\">0</a>")
        self.write("go", "")
        while states[key]["state"] == "Running":
            last, news = next_event(stream)
            states.update(news)
        self.assertEqual(states[key]["title"], "✓ wait")
        said = job.communicate()[1]
        self.assertEqual(job.returncode, 0)
        self.assertIn(f"portal: http://127.0.0.1:{self.portal.port}/{self.portal.prefix}/jobs/{key}\n", said)
        self.assertNotIn(self.portal.token, said)
        again = self.portal.stream(key, last_id=last)
        with self.assertRaises(AssertionError):  # nothing is new: only a comment, and then the end
            self.portal.stop()
            next_event(again)
        for one in (again, stream, deaf):
            one.close()
        Live.portal = Portal(TIDEMILL, self.workspace)


class Control(Case):
    """A portal with --allow-control for each test, and jobs that wait for a file."""

    @classmethod
    def setUpClass(cls):
        pass

    @classmethod
    def tearDownClass(cls):
        pass

    def setUp(self):
        # The name leads elsewhere from the directory of a job.
        self.portal = Portal(TIDEMILL, "workspace", "--allow-control", cwd=self.folder)
        self.addCleanup(self.end)
        page = self.portal.get("").text()
        self.token = re.search(r"data-token='?\"?([0-9a-f]{64})", page).group(1)

    def end(self):
        if self.portal.process.returncode is None:
            self.portal.stop()

    def ask(self, key, action, method="POST", **headers):
        given = {"Origin": "http://localhost", "Sec_Fetch_Site": "same-origin", "X_Tidemill_Token": self.token,
                 "Content_Length": "0"}
        given.update(headers)
        given = {name: value for name, value in given.items() if value is not None}
        return self.portal.get(f"jobs/{key}/actions/{action}", method=method, **given)

    def offer(self, key):
        return self.portal.get(f"jobs/{key}/job/?section=control").text()

    def test_a_job_is_canceled_soon_and_then_now(self):
        job, key, _ = begin(self, "soon")
        self.assertIn("data-action='cancel'", self.offer(key).replace('"', "'"))
        a = self.ask(key, "resume")
        self.assertEqual((a.status, "is running already" in a.text()), (409, True))
        a = self.ask(key, "cancel")
        self.assertEqual((a.status, "Running mini-batches may end" in a.text()), (202, True))
        wait_until(lambda: "data-action='cancel-now'" in self.offer(key).replace('"', "'"), "the second press")
        self.assertIsNone(job.poll())
        self.assertEqual(self.ask(key, "cancel-now").status, 202)
        self.assertEqual(job.wait(60), 130)
        a = self.ask(key, "cancel")
        self.assertEqual((a.status, "not running" in a.text()), (409, True))
        self.portal.stop()
        lines = [line for line in self.portal.errors.splitlines() if "/actions/" in line]
        self.assertEqual(len(lines), 4)
        self.assertRegex(lines[1], rf"^tidemill: \S+ \S+ POST /\w+/jobs/{key}/actions/cancel from 127\.0\.0\.1:\d+: 202$")

    def test_a_killed_job_is_resumed_and_outlives_the_portal(self):
        job, key, go = begin(self, "again")
        job.kill()
        job.wait()
        folder = os.path.join(self.workspace, "jobs", key)
        wait_until(lambda: "data-action='resume'" in self.offer(key).replace('"', "'"), "the button")
        log = os.path.join(folder, "portal_resume.txt")
        os.mkfifo(log)
        self.assertEqual(self.ask(key, "resume").status, 500)  # nothing waits for its reader
        os.unlink(log)
        a = self.ask(key, "resume")
        self.assertEqual((a.status, "It continues if the portal ends" in a.text()), (202, True), a.text())
        self.assertEqual(self.ask(key, "resume").status, 409)  # it may not have been taken yet
        wait_until(lambda: os.path.exists(os.path.join(go, "begun")), "its next session")
        self.assertIn("portal_resume.txt", self.offer(key))
        pid = json.loads(subprocess.run([TIDEMILL, "status", folder, "--json"], capture_output=True).stdout)["pid"]
        self.assertEqual(os.getsid(pid), pid)
        sockets = [os.readlink(f"/proc/{self.portal.pid()}/fd/{fd}") for fd in os.listdir(f"/proc/{self.portal.pid()}/fd")]
        sockets = [name for name in sockets if name.startswith("socket:")]
        for fd in os.listdir(f"/proc/{pid}/fd"):
            self.assertNotIn(os.readlink(f"/proc/{pid}/fd/{fd}"), sockets)
        self.portal.stop(signal.SIGKILL)
        os.kill(pid, 0)
        self.write(os.path.join(go, "go"), "")
        result = os.path.join(folder, "job_result.json")
        wait_until(lambda: os.path.exists(result), "its end")
        with open(result) as f:
            self.assertEqual(json.load(f)["status"], "Completed")

    def test_a_job_that_others_can_write_to_is_refused(self):
        folder = os.path.join(self.workspace, "jobs", self.key)
        mode = stat.S_IMODE(os.stat(folder).st_mode)
        os.chmod(folder, 0o770)
        self.addCleanup(os.chmod, folder, mode)
        for action in ("resume", "only-failed", "cancel"):
            a = self.ask(self.key, action)
            self.assertEqual((a.status, "other users can write to it" in a.text()), (403, True), a.text())

    def test_failed_items_run_again_as_a_new_job(self):
        go = os.path.join(self.folder, "failed")
        os.makedirs(os.path.join(go, "in"))
        self.write(os.path.join(go, "in", "one"), "one")
        self.write(os.path.join(go, "fails.lua"), FAILING.replace("FOLDER", go))
        run_job("fails.lua", go, self.workspace, "--error-threshold", "0").wait()
        jobs = os.path.join(self.workspace, "jobs")
        key, = [name for name in os.listdir(jobs) if name.startswith("fails-")]
        offer = self.offer(key).replace('"', "'")
        self.assertEqual(re.findall("data-action='([a-z-]+)'", offer), ["resume", "only-failed"])
        self.assertEqual(re.findall("data-dialog='([a-z-]+)'", offer), re.findall("<dialog id='([a-z-]+)'", offer))
        ids = re.findall("id='([a-z-]+)'", offer)
        self.assertEqual(len(ids), len(set(ids)))
        self.assertIn(" &amp;&amp; tidemill map fails.lua ", offer)
        log = os.path.join(jobs, key, "portal_only_failed.txt")
        os.mkfifo(log)
        self.assertEqual(self.ask(key, "only-failed").status, 500)  # nothing waits for its reader
        os.unlink(log)
        self.addCleanup(self.write, os.path.join(go, "go"), "")
        self.write(os.path.join(go, "mended"), "")
        a = self.ask(key, "only-failed")
        self.assertEqual((a.status, "portal_only_failed.txt" in a.text()), (202, True), a.text())
        a = self.ask(key, "only-failed")
        self.assertEqual((a.status, "already" in a.text()), (409, True), a.text())
        wait_until(lambda: os.path.exists(os.path.join(go, "begun")), "the new job")
        new, = [name for name in os.listdir(jobs) if name.startswith("fails-") and name != key]
        self.assertEqual(self.ask(new, "only-failed").status, 409)  # it runs
        self.assertIn("portal_only_failed.txt", self.offer(key))
        self.assertEqual(stat.S_IMODE(os.stat(log).st_mode), 0o600)
        folder = os.path.join(jobs, new)
        pid = json.loads(subprocess.run([TIDEMILL, "status", folder, "--json"], capture_output=True).stdout)["pid"]
        self.assertEqual(os.getsid(pid), pid)
        self.portal.stop(signal.SIGKILL)
        os.kill(pid, 0)
        self.write(os.path.join(go, "go"), "")
        wait_until(lambda: os.path.exists(os.path.join(folder, "job_result.json")), "its end")
        with open(os.path.join(folder, "job_result.json")) as f:
            self.assertEqual(json.load(f)["status"], "Completed")

    def test_a_helper_that_hangs_does_not_keep_the_portal(self):
        with open(f"/proc/{self.portal.pid()}/task/{self.portal.pid()}/children") as f:
            helper = int(f.read().split()[-1])
        wait_until(lambda: len(os.listdir(f"/proc/{helper}/fd")) == 4, "that it has closed what is not its own")
        os.kill(helper, signal.SIGSTOP)
        try:
            self.portal.process.terminate()
            self.portal.process.wait(20)
        finally:
            os.kill(helper, signal.SIGCONT)
        wait_until(lambda: not is_alive(helper), "its end")
        self.portal.stop()

    def test_only_the_helper_can_write(self):
        libc = ctypes.CDLL(None)
        if libc.syscall(444, None, 0, 1) < 1:  # landlock_create_ruleset(): its version
            self.skipTest("the kernel has no Landlock")
        self.portal.stop()
        target = os.path.join(self.folder, "written")
        probe = os.path.join(os.path.dirname(TIDEMILL), "tests", "portal", "writes_on_signal.so")
        options = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        environment = {"LD_PRELOAD": probe, "TM_WRITE_TO": target, "ASAN_OPTIONS": options}
        for given in ((), ("--allow-control",)):
            self.portal = Portal(TIDEMILL, self.workspace, *given, env=environment)
            pid = self.portal.pid()
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                others = [int(n) for n in f.read().split()]  # what removes its files; the helper
            self.assertEqual(len(others), 1 + len(given))
            self.assertEqual(self.try_to_write(pid), "refused\n")
            self.assertFalse(os.path.exists(target))
            for one in others:
                self.assertEqual(self.try_to_write(one), "written\n")
                os.unlink(target)
            self.portal.stop()

    def try_to_write(self, pid):
        os.kill(pid, signal.SIGUSR1)
        errors = self.portal.process.stderr
        self.assertTrue(select.select([errors], [], [], 60)[0], "the process says nothing")
        return errors.readline()

    def test_what_is_wrong_is_refused(self):
        ask = self.ask
        cases = [
            (403, ask(self.key, "cancel", Origin=None)),
            (403, ask(self.key, "cancel", Origin="http://localhost:1")),
            (403, ask(self.key, "cancel", Sec_Fetch_Site="none")),
            (403, ask(self.key, "cancel", X_Tidemill_Token=None)),
            (403, ask(self.key, "cancel", X_Tidemill_Token="0" * 64)),
            (405, ask(self.key, "cancel", method="GET", Content_Length=None)),
            (401, self.stranger()),
            (413, ask(self.key, "cancel", Content_Length="1")),
            (404, ask(self.key, "remove")),
            (404, ask("nothing", "cancel")),
            (404, ask("%20", "resume")),
            (405, ask("%2e%2e", "resume")),
            (409, ask(self.key, "cancel")),
            (404, ask(self.key, "replay")),
            (404, ask(self.key, "cancel/score/0")),
            (404, ask(self.key, "replay/score/3")),
            (404, ask(self.key, "replay/score/-1")),
            (404, ask(self.key, "replay/score/0x0")),
            (404, ask(self.key, "replay/score/99999999999999999999")),
            (404, ask(self.key, "replay/other/0")),
            (404, ask(self.key, "replay/" + "a" * 300 + "/0")),
            (405, ask(self.key, "replay/score/0/0")),
            (403, ask(self.key, "replay/score/0", Origin=None)),
            (403, ask(self.key, "replay/score/0", X_Tidemill_Token="0" * 64)),
            (405, ask(self.key, "replay/score/0", method="GET", Content_Length=None)),
        ]
        for i, (status, answer) in enumerate(cases):
            self.assertEqual(answer.status, status, i)
        self.assertEqual(cases[5][1].header("Allow"), "POST")
        self.portal.stop()
        self.portal = Portal(TIDEMILL, self.workspace)
        a = ask(self.key, "cancel")
        self.assertEqual((a.status, "--allow-control" in a.text()), (403, True))
        self.assertEqual(ask(self.key, "only-failed").status, 403)
        offer = self.offer(self.key)
        self.assertIn(" --only-failed ", offer)
        self.assertNotIn("data-action", offer)
        self.assertEqual(ask(self.key, "replay/score/0").status, 403)
        self.assertNotIn("data-token", self.portal.get("").text())

    def ask_for_replay(self, key):
        s = self.portal.connect()
        s.sendall((f"POST /{self.portal.prefix}/jobs/{key}/actions/replay/replayed/0 HTTP/1.1\r\nHost: localhost\r\n"
                   f"Cookie: {self.portal.login()}\r\nOrigin: http://localhost\r\nX-Tidemill-Token: {self.token}\r\n"
                   "Content-Length: 0\r\n\r\n").encode())
        return s

    def replay(self, key):
        """A replay that runs: its connection, which has a header and what was printed up to "begun"."""
        s = self.ask_for_replay(key)
        return s, self.read(s, lambda data: b"begun" in data)

    def read(self, s, is_all):
        data = b""
        while not is_all(data):
            piece = s.recv(1 << 16)
            self.assertTrue(piece, data)
            data += piece
        return data

    def test_a_replay_is_streamed_and_ends_when_its_page_does(self):
        key = make_replayed(self)
        self.portal.login()
        descriptors = self.portal.descriptors()
        s, data = self.replay(key)
        head = Answer(data)
        self.assertEqual(head.header("Content-Type"), "text/plain; charset=utf-8")
        self.assertIn("sandbox", head.header("Content-Security-Policy"))
        a = self.ask(key, "replay/replayed/1")
        self.assertEqual((a.status, "is running already" in a.text()), (409, True), a.text())
        self.write(os.path.join(self.go, "go"), "")
        self.assertIn(b"<script>canary()</script>", data)
        data = self.read(s, lambda data: data.endswith(b"\r\n0\r\n\r\n"))
        self.assertIn(b"exit status 0: all items succeeded\n", data)
        self.assert_gone(4)
        s.close()
        self.write(os.path.join(self.go, "waits"), "trap '' INT\n")
        s, refused = self.replay(key)[0], self.ask_for_replay(key)
        select.select([refused], [], [], 60)  # it is answered
        began = time.monotonic()
        s.close()  # the replay prints nothing then
        refused.close()
        self.assert_gone(2)
        wait_until(lambda: self.portal.descriptors() == descriptors, "closed descriptors")
        self.assertLess(time.monotonic() - began, 30)  # of the 60 that an idle connection has
        self.write(os.path.join(self.go, "waits"), "")
        with self.replay(key)[0]:
            self.portal.stop(signal.SIGKILL)
            self.assert_gone(2)

    def stranger(self):
        return self.portal.get(f"jobs/{self.key}/actions/cancel", method="POST", cookie=False, Origin="http://localhost",
                               X_Tidemill_Token=self.token, Content_Length="0")


class Hostile(Case):
    def test_junk_is_answered_or_cut_off(self):
        junk = [b"\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                b"\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: " + b"y" * 200000 + b"\r\n\r\n",
                b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
                b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx",
                b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nx",
                os.urandom(5000) + b"\r\n\r\n"]
        for data in junk:
            with self.portal.connect() as s:
                try:
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                except OSError:
                    pass
                answer = read_all(s)
            self.assertTrue(not answer or 400 <= Answer(answer).status < 600, data[:60])
        self.assertEqual(self.portal.get("").status, 200)

    def test_headers_have_a_limit(self):
        fits = "".join(f"X-{i}: {'y' * 90}\r\n" for i in range(100))
        head = f"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        self.assertEqual(Answer(self.portal.raw((head + fits + "\r\n").encode())).status, 404)
        over = Answer(self.portal.raw((head + fits + fits + "\r\n").encode()))
        self.assertEqual(over.status, 431)

    def test_five_hundred_connections_do_not_keep_others_out_for_long(self):
        before = self.portal.descriptors()
        held = [self.portal.connect() for _ in range(500)]
        wait_until(lambda: self.portal.descriptors() <= before + 256, "further connections are closed")
        for s in held:
            s.close()
        wait_until(lambda: self.portal.descriptors() <= before + 1, "all are closed")
        self.assertEqual(self.portal.get("").status, 200)

    def test_without_descriptors_it_waits_and_goes_on(self):
        pid = self.portal.pid()
        limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (self.portal.descriptors() + 5, limits[1]))
        held = [self.portal.connect() for _ in range(30)]
        began = self.portal.ticks()
        select.select([], [], [], 0.3)  # the time that is measured
        self.assertLess(self.portal.ticks() - began, 15)  # of 30, if it tried all the time
        for s in held:
            s.close()
        self.assertEqual(self.portal.get("").status, 200)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)

    def test_one_connection_has_many_requests(self):
        request = (f"GET /{self.portal.prefix}/datasets HTTP/1.1\r\nHost: localhost\r\n"
                   f"Cookie: {self.portal.login()}\r\n\r\n").encode()
        with self.portal.connect() as s:
            s.sendall(request * 19 + request[:-2] + b"Connection: close\r\n\r\n")
            self.assertEqual(read_all(s).count(b"HTTP/1.1 200"), 20)

    def test_a_reader_that_does_not_read_keeps_nobody_waiting(self):
        name = os.path.join(self.job, "score", "logs", "big.txt")
        with open(name, "wb") as f:
            f.truncate(1 << 30)
        with self.portal.connect() as s:
            s.sendall((f"GET /{self.portal.prefix}/jobs/{self.key}/files/score/logs/big.txt HTTP/1.1\r\n"
                       f"Host: localhost\r\nCookie: {self.portal.login()}\r\n\r\n").encode())
            s.recv(1000)
            self.assertEqual(self.portal.get("").status, 200)
        os.unlink(name)


class Ends(Case):
    def command(self, *options, **env):
        environment = dict(os.environ, TIDEMILL_WORKSPACE=self.workspace)
        environment.update(env)
        done = subprocess.run([TIDEMILL, "portal", *options], env=environment, capture_output=True, text=True,
                              cwd=self.folder, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def test_its_files_are_private_and_go_with_it(self):
        files = [os.path.join(self.workspace, name) for name in ("portal.json", "portal_address.json")]
        for name in files:
            self.assertEqual(stat.S_IMODE(os.stat(name).st_mode), 0o600)
        with open(files[0]) as f:
            self.assertEqual(json.load(f), {"url": self.portal.url, "pid": self.portal.pid()})
        self.assertEqual(self.command(), (1, f"already running: {self.portal.url}\ntidemill: a portal of the "
                                             f"workspace '{self.workspace}' is running\n"))
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            status, seconds = self.portal.stop(sig)
            self.assertEqual(status, 0)
            self.assertLess(seconds, 10)  # 0.02 s; a machine may be busy
            self.assertFalse(os.path.exists(files[0]))
            old, Ends.portal = self.portal, Portal(TIDEMILL, self.workspace)
            self.assertEqual((self.portal.port, self.portal.prefix), (old.port, old.prefix))
            self.assertNotEqual(self.portal.token, old.token)
            self.assertEqual(self.portal.get("", cookie=old.cookie or "tidemill=x").status, 401)

    def test_a_killed_portal_leaves_nothing(self):
        self.portal.stop(signal.SIGKILL)
        wait_until(lambda: not os.path.exists(os.path.join(self.workspace, "portal.json")), "the janitor's work")
        Ends.portal = Portal(TIDEMILL, self.workspace)

    def test_a_socket_in_the_file_system(self):
        self.portal.stop()
        path = os.path.join(self.folder, "socket")
        with socket.socket(socket.AF_UNIX) as stale:
            stale.bind(path)
        portal = Portal(TIDEMILL, self.workspace, "--socket", path, address=path)
        self.addCleanup(lambda: portal.process.poll() is None and portal.stop())
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.assertEqual(portal.get("").status, 200)
        other = os.path.join(self.folder, "other")
        os.mkdir(other)
        run_job("score.lua", self.folder, other).wait()
        status, said = self.command("--socket", path, TIDEMILL_WORKSPACE=other)
        self.assertEqual(status, 1)
        self.assertIn(f"a program listens on the socket '{path}'", said)
        portal.stop()
        self.assertFalse(os.path.exists(path))
        self.write("socket", "a file")
        status, said = self.command("--socket", path)
        self.assertEqual(status, 2)
        self.assertIn("is not a socket", said)
        Ends.portal = Portal(TIDEMILL, self.workspace)

    def test_wrong_options(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            other = os.path.join(self.folder, "none")
            os.makedirs(other, exist_ok=True)
            self.portal.stop()
            cases = [
                (1, "is taken by another program", ["--port", str(taken.getsockname()[1])], {}),
                (2, "--port needs a number", ["--port", "http"], {}),
                (2, "--port needs a number", ["--port", "65536"], {}),
                (2, "did you mean '--port'", ["--prot", "1"], {}),
                (2, "--listen needs --allow-host", ["--listen", "0.0.0.0"], {}),
                (2, "not 'here'", ["--listen", "here", "--allow-host", "a"], {}),
                (2, "is not an address of this machine", ["--listen", "192.0.2.7", "--allow-host", "a"], {}),
                (2, "excludes", ["--socket", "x", "--port", "1"], {}),
                (2, "takes only options", ["latest"], {}),
                (2, "there is no workspace", [], {"TIDEMILL_WORKSPACE": self.folder + "/nothing"}),
            ]
            for status, words, options, env in cases:
                got, said = self.command(*options, **env)
                self.assertEqual(got, status, said)
                self.assertIn(words, said)
        Ends.portal = Portal(TIDEMILL, self.workspace)

    def test_a_browser_gets_a_file_and_no_token(self):
        self.portal.stop()
        self.write("browser", f"#!/bin/sh\necho \"$1\" >{self.folder}/given.new\nmv {self.folder}/given.new {self.folder}/given\n")
        os.chmod(os.path.join(self.folder, "browser"), 0o700)
        environment = {"BROWSER": os.path.join(self.folder, "browser"), "HOME": ""}
        Ends.portal = portal = Portal(TIDEMILL, self.workspace, "--open", env=environment)
        given = os.path.join(self.folder, "given")
        wait_until(lambda: os.path.exists(given), "the browser")
        with open(given) as f:
            page = f.read().strip()
        self.assertEqual(stat.S_IMODE(os.stat(page).st_mode), 0o600)
        with open(page) as f:
            self.assertIn(portal.url, f.read())
        with open(f"/proc/{portal.pid()}/cmdline") as f:
            self.assertNotIn(portal.token, f.read())
        portal.stop()
        self.assertFalse(os.path.exists(page))
        Ends.portal = portal = Portal(TIDEMILL, self.workspace, "--open", env={"BROWSER": "/nothing", "PATH": "/nothing"})
        self.assertEqual(portal.get("").status, 200)


@unittest.skipUnless("TM_LONG" in os.environ, "takes ten seconds; TM_LONG=1")
class Long(Case):
    def test_half_a_request_is_cut_off(self):
        began = time.monotonic()
        with self.portal.connect() as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: local")
            self.assertEqual(read_all(s), b"")
        self.assertTrue(9 < time.monotonic() - began < 20)


if __name__ == "__main__":
    unittest.main()
