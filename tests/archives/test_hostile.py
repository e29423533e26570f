"""Jobs over hostile archives: test_hostile.py TIDEMILL

One job runs over all archives of hostile.py and a sound one, with extracted files and with names. Each hostile archive fails
with a message, the sound one is read, nothing is written elsewhere, and nothing takes much time or memory. Then jobs run over
damaged archives, for which any result is accepted under the same limits. TM_LONG=1: 20,000 of them instead of 100, and some
hostile ones that take seconds. TM_SEED: a number that repeats them. TM_SANITIZE: memory is not checked.
"""
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import hostile

TIDEMILL = os.path.abspath(sys.argv.pop(1))
IS_LONG = "TM_LONG" in os.environ
LIMIT_S = 300
LIMIT_MB = 120
BATCH = 100

PIPELINE = """
local tm = require "tidemill"
local found = tm.Dataset.File.from_archives("in", { entries = "**", extract = os.getenv "EXTRACT" == "true" })
local config = tm.ParallelRunConfig { entry_script = "score.lua", mini_batch_size = 500, run_max_try = 1,
  process_count_per_node = 2 }
return tm.Pipeline { name = "hostile", steps = { tm.ParallelRunStep { name = "score",
  parallel_run_config = config, inputs = { found } } } }
"""

SCRIPT = """
local extract = os.getenv "EXTRACT" == "true"
function run(mini_batch, context)
  local rows = {}
  for i, item in ipairs(mini_batch) do
    local file, why
    if extract then file, why = io.open(item) else file, why = context:open(item) end
    local ok, text, words = pcall(function() return file:read "*a" end)
    if file and ok and text then
      rows[#rows + 1] = item:match "[^/]+/[^/]+$" .. " " .. #text
    else
      context:fail(i, why or words or tostring(text))
    end
  end
  return rows
end
"""


class Hostile(unittest.TestCase):
    jobs = archives = peak_mb = 0

    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix="tidemill-hostile-"))
        self.addCleanup(shutil.rmtree, self.dir)
        for name in ("outside", "tmp", "case", "case/in"):
            os.mkdir(os.path.join(self.dir, name))
        self.put("case/pipeline.lua", PIPELINE.encode())
        self.put("case/score.lua", SCRIPT.encode())

    @classmethod
    def tearDownClass(cls):
        print("%d archives, %d jobs, 0 outside, peak %d MB" % (cls.archives, cls.jobs, cls.peak_mb))

    def path(self, name):
        return os.path.join(self.dir, name)

    def put(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def make(self, archives):
        """Writes the archives as files, in a separate process, so that its memory does not count as the program's."""
        shutil.rmtree(self.path("case/in"))
        os.mkdir(self.path("case/in"))
        pid = os.fork()
        if pid == 0:
            try:
                for name, data in archives().items():
                    self.put("case/in/" + name, data)
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        Hostile.archives += len(os.listdir(self.path("case/in")))

    def tree(self):
        """All paths except those of the job, and files above that a name with '..' could have written."""
        found = set()
        for folder, folders, files in os.walk(self.dir):
            if folder == self.path("case"):
                folders.remove("job") if "job" in folders else None
                folders.remove(".tidemill") if ".tidemill" in folders else None
            found.update(os.path.join(folder, name) for name in folders + files)
        above = os.path.dirname(self.dir)
        while True:
            found.update(os.path.join(above, n) for n in os.listdir(above) if n.startswith("slipped"))
            if above == "/":
                return found
            above = os.path.dirname(above)

    def run_job(self, extract):
        """The exit status. Fails if the job takes too long or too much memory, or leaves files."""
        shutil.rmtree(self.path("case/job"), ignore_errors=True)
        before = self.tree()
        env = dict(os.environ, TMPDIR=self.path("tmp"), TIDEMILL_WORKSPACE=self.path("case/.tidemill"),
                   EXTRACT="true" if extract else "false")
        with open(self.path("case/out"), "wb") as out:
            child = subprocess.Popen([TIDEMILL, "run", "pipeline.lua", "--job-dir", "job", "--progress", "none"],
                                     cwd=self.path("case"), env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                     start_new_session=True)
        signal.alarm(LIMIT_S)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        finally:
            signal.alarm(0)
            child.returncode = 0
        Hostile.jobs += 1
        Hostile.peak_mb = max(Hostile.peak_mb, usage.ru_maxrss // 1024)
        if "TM_SANITIZE" not in os.environ:
            self.assertLessEqual(usage.ru_maxrss // 1024, LIMIT_MB)
        os.remove(self.path("case/out")) if status == 0 else None
        self.assertEqual(self.tree() - before - {self.path("case/out")}, set())
        return os.waitstatus_to_exitcode(status)

    def words(self):
        """The messages of failed items, by name of the archive."""
        found = {}
        name = self.path("case/job/score/failed_items.jsonl")
        with open(name, errors="replace") as file:
            for line in file:
                item = json.loads(line)
                archive = item["item"].split("/in/", 1)[1].split("/", 1)[0]
                found[archive] = found.get(archive, "") + item["error"] + "\n"
        return found

    def test_each_is_contained(self):
        def archives():
            made = hostile.hostile(self.path("outside"), IS_LONG)
            self.put("words", json.dumps({name: words for name, (_, words) in made.items()}).encode())
            return dict({name: data for name, (data, _) in made.items()}, sound=hostile.sound()["plain.zip"])

        self.make(archives)
        with open(self.path("words")) as file:
            expected = json.load(file)
        for extract in (True, False):
            self.assertEqual(self.run_job(extract), 0)
            said = self.words()
            with open(self.path("case/job/score/output/parallel_run_step.txt"), errors="replace") as file:
                rows = file.read()
            self.assertNotIn("sound", said)
            self.assertIn("a/7.txt 700\n", rows)
            for name, words in expected.items():
                with self.subTest(name=name, extract=extract):
                    self.assertIn(words or "", said.get(name, ""))

    def test_a_damaged_one_is_read_or_refused(self):
        seed = int(os.environ.get("TM_SEED") or time.time())
        count = 20000 if IS_LONG else 100
        for first in range(0, count, BATCH):
            def archives():
                draw, sound, made = random.Random(seed * 1000003 + first), hostile.sound(), {}
                for i in range(BATCH):
                    name = draw.choice(sorted(sound))
                    made["%03d-%s" % (i, name)] = hostile.damaged(draw, name, sound[name])
                return made

            self.make(archives)
            for extract in (True, False):
                with self.subTest(TM_SEED=seed, first=first, extract=extract):
                    self.assertIn(self.run_job(extract), (0, 1))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    unittest.main()
