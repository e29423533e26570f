-- Starts programs, waits for them with a time limit, and finds processes that are left. It uses no
-- shell, so that a pid belongs to the program itself, and its signals are set as on a terminal.
local ffi = require "ffi"
local lfs = require "lfs"

ffi.cdef [[
typedef union { char bytes[128]; long align; } tm_test_spawn_actions;
typedef union { char bytes[512]; long align; } tm_test_spawn_attributes;
typedef struct { unsigned long bits[16]; } tm_test_signals;
typedef struct { long seconds, nanoseconds; } tm_test_time;
extern char **environ;
int posix_spawn_file_actions_init(tm_test_spawn_actions *a);
int posix_spawn_file_actions_destroy(tm_test_spawn_actions *a);
int posix_spawn_file_actions_addopen(tm_test_spawn_actions *a, int fd, const char *path, int flags, unsigned mode);
int posix_spawn_file_actions_addchdir_np(tm_test_spawn_actions *a, const char *path);
int posix_spawnattr_init(tm_test_spawn_attributes *a);
int posix_spawnattr_setflags(tm_test_spawn_attributes *a, short flags);
int posix_spawnattr_setsigdefault(tm_test_spawn_attributes *a, const tm_test_signals *set);
int posix_spawnattr_setsigmask(tm_test_spawn_attributes *a, const tm_test_signals *set);
int posix_spawnp(int *pid, const char *file, const tm_test_spawn_actions *a, const tm_test_spawn_attributes *attributes,
                 const char *const argv[], char *const envp[]);
int sigfillset(tm_test_signals *set);
int sigemptyset(tm_test_signals *set);
int waitpid(int pid, int *status, int options);
int kill(int pid, int signal);
int poll(void *fds, unsigned long count, int milliseconds);
int clock_gettime(int clock, tm_test_time *out);
]]

local programs = { SIGINT = 2, SIGKILL = 9, SIGTERM = 15, SIGSTOP = 19, SIGCONT = 18 }

local WNOHANG = 1
local NEW_FILE = 577 -- O_WRONLY | O_CREAT | O_TRUNC
local SET_SIGNALS = 0x0c     -- POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK

--- Seconds on the monotonic clock.
function programs.now()
  local t = ffi.new "tm_test_time"
  ffi.C.clock_gettime(1, t)
  return tonumber(t.seconds) + tonumber(t.nanoseconds) / 1e9
end

--- Lets `milliseconds` pass: between two looks, or before a kill at a random moment.
function programs.pass_ms(milliseconds)
  ffi.C.poll(nil, 0, milliseconds)
end

--- Calls `look` until it returns a true value, and returns that; an error after `limit` seconds.
function programs.wait_until(what, look, limit)
  local until_s = programs.now() + (limit or 20)
  while true do
    local found = look()
    if found then return found end
    if programs.now() > until_s then error("waited " .. (limit or 20) .. " s for: " .. what, 2) end
    programs.pass_ms(2)
  end
end

local Program = {}
Program.__index = Program

--- Starts `argv` with its output in files: { cwd, stdin, stdout, stderr } are paths. Returns the
--- running program.
function programs.start(argv, o)
  local actions, attributes = ffi.new "tm_test_spawn_actions", ffi.new "tm_test_spawn_attributes"
  local signals, pid = ffi.new "tm_test_signals", ffi.new "int[1]"
  local list = ffi.new("const char *[?]", #argv + 1)
  for i, word in ipairs(argv) do list[i - 1] = word end
  ffi.C.posix_spawn_file_actions_init(actions)
  ffi.C.posix_spawnattr_init(attributes)
  ffi.C.sigfillset(signals)
  ffi.C.posix_spawnattr_setsigdefault(attributes, signals)
  ffi.C.sigemptyset(signals)
  ffi.C.posix_spawnattr_setsigmask(attributes, signals)
  ffi.C.posix_spawnattr_setflags(attributes, SET_SIGNALS)
  ffi.C.posix_spawn_file_actions_addopen(actions, 0, o.stdin or "/dev/null", 0, 0)
  ffi.C.posix_spawn_file_actions_addopen(actions, 1, o.stdout, NEW_FILE, 420)
  ffi.C.posix_spawn_file_actions_addopen(actions, 2, o.stderr, NEW_FILE, 420)
  if o.cwd then ffi.C.posix_spawn_file_actions_addchdir_np(actions, o.cwd) end
  local rc = ffi.C.posix_spawnp(pid, argv[1], actions, attributes, list, ffi.C.environ)
  ffi.C.posix_spawn_file_actions_destroy(actions)
  if rc ~= 0 then error("cannot start '" .. argv[1] .. "': error " .. rc, 2) end
  return setmetatable({ pid = pid[0], argv = argv }, Program)
end

function Program:kill(signal)
  ffi.C.kill(self.pid, signal)
end

--- True once it has ended; `status` or `signal` are then set.
function Program:has_ended()
  if self.status or self.signal then return true end
  local status = ffi.new "int[1]"
  local rc = ffi.C.waitpid(self.pid, status, WNOHANG)
  if rc == 0 then return false end
  assert(rc == self.pid, "waitpid has lost a program")
  local signal = status[0] % 128
  if signal == 0 then self.status = math.floor(status[0] / 256) % 256 else self.signal = signal end
  return true
end

--- Waits for its end; after `limit` seconds it is killed, and that is an error.
function Program:wait(limit)
  local until_s = programs.now() + (limit or 30)
  while not self:has_ended() do
    if programs.now() > until_s then
      self:kill(programs.SIGKILL)
      programs.wait_until("a killed program", function() return self:has_ended() end)
      error("it took more than " .. (limit or 30) .. " s: " .. table.concat(self.argv, " "), 2)
    end
    programs.pass_ms(1)
  end
  return self.status, self.signal
end

function programs.kill(pid, signal)
  return ffi.C.kill(pid, signal) == 0
end

local function read_all(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read "*a" or ""
  file:close()
  return text
end

--- The living processes with `variable` (NAME=value) in their environment: an array of { pid, argv
--- }.
function programs.find(variable)
  local found = {}
  for name in lfs.dir "/proc" do
    local environment = name:find "^%d+$" and "\0" .. read_all("/proc/" .. name .. "/environ") or ""
    if environment:find("\0" .. variable .. "\0", 1, true) then
      local argv = {}
      for word in read_all("/proc/" .. name .. "/cmdline"):gmatch "[^%z]+" do argv[#argv + 1] = word end
      found[#found + 1] = { pid = tonumber(name), argv = argv }
    end
  end
  return found
end

--- The parent process of `pid` at this moment; nil if `pid` does not exist.
function programs.parent(pid)
  return tonumber(read_all("/proc/" .. pid .. "/status"):match "\nPPid:%s*(%d+)")
end

return programs
