"""Sums, counts and quantiles of `tidemill report JOB --json`, compared with those that a second reader
finds in the tables of the job: oracle.py TIDEMILL. TM_SEED repeats a run, TM_LONG makes more jobs."""
import collections, csv, decimal, datetime, json, math, os, random, shutil, signal, subprocess, sys, tempfile

# ---- the second reader ----

def ns(seconds):
    return int(decimal.Decimal(seconds or 0) * 10**9)

def moment(text):
    if not text:
        return 0
    at = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
    return int((at - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)) / datetime.timedelta(microseconds=1)) * 1000

def rows(path):
    with open(path, newline="", errors="surrogateescape") as f:
        whole = [line for line in f if line.endswith("\n")]
    reader = csv.reader(whole)
    names = next(reader, [])  # a job that was killed early has no table
    return [dict(zip(names, r)) for r in reader if len(r) == len(names)]

def quantile(values, share):
    """The last value of the bin of the exact quantile: a power of two has 32 bins."""
    exact = sorted(values)[max(math.ceil(share * len(values)), 1) - 1]
    step = 1 << max(exact.bit_length() - 6, 0)
    return min(exact // step * step + step - 1, max(values))

def spread(values):
    return {"count": len(values), "sum_ns": sum(values), "min_ns": min(values, default=0), "max_ns": max(values, default=0),
            **{f"p{p}_ns": quantile(values, p / 100) if values else 0 for p in (50, 90, 99)}}

def read_step(logs):
    tries, workers = collections.Counter(ok=0, error=0, timeout=0, lost=0, canceled=0), collections.OrderedDict()
    run, around, failed, out = [], [], set(), collections.Counter()
    for e in rows(logs + "/sys/job_report/workers.csv"):
        w = workers.setdefault(e["Process"], {"first": moment(e["Utc Time"]), "last": 0, "lived": 0, "tries": 0, "died": False})
        w["last"] = max(w["last"], moment(e["Utc Time"]))
        if e["Event"] == "ended":
            w["lived"], w["died"] = ns(e["Seconds"]), e["Cause"] not in ("stopped", "shutdown", "killed")
    for t in rows(logs + "/sys/job_report/processed_mini-batches.csv"):
        if not t["Mini-batch Id"].isdigit():
            continue
        kind = {"": "ok"}.get(t["Error Category"], t["Error Category"])
        kind = kind if kind in tries else "error"
        elapsed, in_run, begun = ns(t["Elapsed Seconds"]), ns(t["Run Method Seconds"]), moment(t["Process Start Time"])
        tries[kind] += 1
        run += [min(in_run, elapsed)] if in_run or kind == "ok" else []
        if kind == "ok":
            around.append(max(elapsed - in_run, 0))
            out.update(items=int(t["Succeeded"]), items_failed=int(t["Failed"]), result_bytes=int(t["Result Bytes"]), run_ok_ns=in_run)
            out.update(retried=t["Mini-batch Id"] in failed)
        elif kind == "canceled":
            out.update(run_open_ns=in_run)
        else:
            failed.add(t["Mini-batch Id"])
            out.update(tries_failed=1, run_failed_ns=in_run)
        if begun:
            out.update(busy_ns=elapsed, ended_ok=kind == "ok", ended_failed=kind not in ("ok", "canceled"))
            w = workers.setdefault(t["Process"], {"first": begun, "last": 0, "lived": 0, "tries": 0, "died": False})
            w["tries"] += 1
            w["last"] = max(w["last"], begun + elapsed)
    return {"tries": dict(tries), "run": spread(run), "around": spread(around), "sums": out, "workers": workers}

# ---- the comparison ----

def same(what, found, expected):
    if found != expected:
        sys.exit(f"{what}: the report has {found}, the tables have {expected}")

def compare(step, logs):
    o = read_step(logs)
    for key in ("tries", "run", "around"):
        same(key, step[key], o[key])
    for key in ("items", "items_failed", "result_bytes", "tries_failed", "retried"):
        same(key, step[key], o["sums"][key])
    for key, series in (("items", "items"), ("ended_ok", "ok"), ("ended_failed", "failed"), ("busy_ns", "busy_ns")):
        same("series of " + series, sum(step["series"][series]), o["sums"][key])
    lives = [w["lived"] or w["last"] - w["first"] for w in o["workers"].values()]
    same("lives", [w["lived_ns"] for w in step["workers"]], lives)
    same("tries of workers", [w["tries"] for w in step["workers"]], [w["tries"] for w in o["workers"].values()])
    same("deaths", step["deaths"], sum(w["died"] for w in o["workers"].values()))
    time = step["time"]
    same("lived", time["lived_ns"], sum(lives))
    same("parts of the time", sum(time.values()) - time["lived_ns"], time["lived_ns"])
    for key in ("run_ok_ns", "run_failed_ns", "run_open_ns"):
        same(key, time[key], o["sums"][key])
    same("groups", sum(g["tries"] for g in step["groups"]), o["sums"]["tries_failed"])
    return o

# ---- jobs ----

SCRIPT = """
local function exists(path) local f = io.open(path) if f then f:close() end return f ~= nil end
local function once(path) -- whether this is the first time
  if exists(path .. ".seen") then return false end
  io.open(path .. ".seen", "w"):close()
  return true
end
function run(mini_batch)
  local rows = {}
  for i, path in ipairs(mini_batch) do
    local kind = path:match "[^.]+$"
    if kind == "bad" or kind == "flaky" and once(path) then error("cannot read " .. path) end
    if kind == "dies" and once(path) then os.exit(3) end
    if kind == "stops" and (once(path) or once(path .. ".again")) then io.open(PIPE):read "*a" end -- until the job is killed
    rows[i] = path
  end
  return rows
end
"""

PIPELINE = """
local tidemill = require "tidemill"
local function step(name, more)
  return tidemill.ParallelRunStep { name = name, inputs = tidemill.Dataset.File.from_files("in/" .. name .. "-*"),
    parallel_run_config = tidemill.ParallelRunConfig { entry_script = "work.lua", mini_batch_size = SIZE,
      environment_variables = { TOKEN = "geheim" }, error_threshold = -1, run_max_try = 2, process_count_per_node = 2 } }
end
return tidemill.Pipeline { name = "oracle", steps = { step "a", step "b" } }
"""

def write(path, text):
    with open(path, "w") as f:
        f.write(text)

def make(folder, rng):
    os.makedirs(folder + "/in")
    os.mkdir(folder + "/ws")
    kinds = ["good"] * rng.randint(20, 40) + ["bad"] * rng.randint(1, 4) + ["flaky"] * rng.randint(1, 4) + ["dies"]
    for name in ("a", "b"):
        rng.shuffle(kinds)
        for i, kind in enumerate(kinds + ["stops"] if name == "b" else kinds):
            write(f"{folder}/in/{name}-{i:03}.{kind}", "x")
    os.mkfifo(folder + "/pipe")
    write(folder + "/work.lua", f"local PIPE = '{folder}/pipe'\n" + SCRIPT)
    write(folder + "/pipeline.lua", f"local SIZE = {rng.randint(1, 3)}\n" + PIPELINE)

def end_when_it_stops(folder, words, end):
    """A writer of the pipe is there once a reader is: then the script waits."""
    job = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    signal.alarm(60)
    with open(folder + "/pipe", "w"):
        signal.alarm(0)
        end(job)
        job.wait(60)

def report(tidemill, folder, job="job"):
    out = subprocess.run([tidemill, "report", job, "--json"], cwd=folder, capture_output=True, timeout=60)
    if out.returncode != 0:
        sys.exit(out.stderr.decode())
    return json.loads(out.stdout)

def text_of(tidemill, *words):
    return subprocess.run([tidemill, *words], capture_output=True, timeout=60, check=True, text=True).stdout

def check_words(tidemill, found, job):
    """The next command is that of `status`, and values of environment variables are not in it."""
    same("next command in status", found["job"]["next"] in text_of(tidemill, "status", job), True)
    settings = {s["name"]: s["value"] for s in found["steps"][0]["settings"]}
    same("environment variables", settings["environment_variables"], "TOKEN")
    same("their values", "geheim" in json.dumps(found), False)

def damage(logs):
    """Rows that are cut, have too few fields, or an unknown category."""
    table = logs + "/sys/job_report/processed_mini-batches.csv"
    with open(table, errors="surrogateescape") as f:
        row = f.read().splitlines()[-1]
    with open(table, "a", errors="surrogateescape") as f:
        f.write("7,1,cut\n" + row.replace(",RUN_DONE,,", ",RUN_ODD,odd,") + "\n" + row[:20])

def check(tidemill, folder, rng):
    make(folder, rng)
    end_when_it_stops(folder, [tidemill, "run", "pipeline.lua", "--job-dir", folder + "/job"], subprocess.Popen.kill)
    found = report(tidemill, folder, folder + "/job")
    same("state", found["job"]["state"], "Interrupted")
    check_words(tidemill, found, folder + "/job")
    compare(found["steps"][1], folder + "/job/b/logs")
    end_when_it_stops(folder, [tidemill, "resume", folder + "/job"],
                      lambda _: text_of(tidemill, "cancel", folder + "/job", "--now"))
    found = report(tidemill, folder, folder + "/job")
    same("state", found["job"]["state"], "Canceled")
    o = compare(found["steps"][1], folder + "/job/b/logs")
    same("a try that was cut off", o["sums"]["run_open_ns"] > 0, True)
    subprocess.run([tidemill, "resume", folder + "/job"], cwd=folder, check=True, timeout=60, capture_output=True)
    found = report(tidemill, folder, folder + "/job")
    same("state", found["job"]["state"], "Completed")
    check_words(tidemill, found, folder + "/job")
    words = [tidemill, "report", folder + "/job", "--json", "--step", "a"]
    same("status of a wrong command", subprocess.run(words, capture_output=True, timeout=60).returncode, 2)
    same("sessions", len(found["steps"][1]["sessions"]), 3)
    same("not measured", found["steps"][1]["time"]["unmeasured_ns"], 0)
    for step in found["steps"]:
        o = compare(step, f"{folder}/job/{step['name']}/logs")
        # The item that ends its worker may share a mini-batch with all those that fail.
        if min(o["tries"]["ok"], o["tries"]["error"] + o["tries"]["lost"]) == 0:
            sys.exit("the job was to have tries that succeed and that fail")
        same("more slots than workers at once", len(step["slots"]) > 2, False)
    damage(folder + "/job/b/logs")
    step = report(tidemill, folder, folder + "/job")["steps"][1]
    compare(step, folder + "/job/b/logs")
    same("waiting, though not all tries are known", (step["time"]["wait_ns"], step["time"]["unmeasured_ns"] > 0), (0, True))
    shutil.rmtree(folder + "/job")
    gone = report(tidemill, folder)
    same("removed", (gone["job"]["is_removed"], gone["job"]["state"], gone["steps"]), (True, "Completed", []))

def main(tidemill):
    seed = int(os.environ.get("TM_SEED") or random.randrange(10**6))
    for i in range(20 if os.environ.get("TM_LONG") else 1):
        folder = os.path.realpath(tempfile.mkdtemp(prefix="tidemill-report-"))
        os.environ["TIDEMILL_WORKSPACE"] = folder + "/ws"
        print(f"TM_SEED={seed + i}", flush=True)
        try:
            check(tidemill, folder, random.Random(seed + i))
        finally:
            shutil.rmtree(folder, ignore_errors=True)

main(os.path.realpath(sys.argv[1]))
