#!/bin/bash
# Starts and stops a real Slurm cluster of several nodes on this machine, for tests. Its files and
# sockets are in one folder. It needs neither systemd nor cgroups nor a file in /etc, and runs as
# root or as any other user. Several clusters can run at once.
#
# `start` returns when all nodes are idle. Its environment:
#
#   NET=plain|netns    plain (default): all nodes at 127.0.0.1. netns: each node has a network, host
#                      name and processes of its own; needs root and iproute2
#   AUTH=munge|none    none: without munge
#   GPUS=N             GPUs of each node; they are links to /dev/null
#   SLURMD_TIMEOUT=N   seconds after which Slurm takes a silent node for down (10)
#   EXTRA=LINES        more lines for slurm.conf
#   WATCH_PID=PID      the cluster stops when this process ends
#
# Exit status: 0; 1 if it failed; 77, with the reason, if this machine cannot run a cluster.
set -u -o pipefail
PATH=$PATH:/usr/sbin:/sbin

usage()
{
  cat <<'END'
usage: tests/support/slurm.sh COMMAND DIR [ARGUMENT]...
  start DIR [NODES] [CPUS]     starts a cluster (3 nodes with 2 CPUs each) with its files in DIR
  env DIR                      prints the variable that Slurm's commands need, for a shell
  exec DIR COMMAND...          runs a command in the cluster: with netns, in the controller's network
  kill-node DIR NUMBER         kills all processes of a node; with netns, cuts it off first
  start-node DIR NUMBER        starts it again
  boot-node DIR NUMBER         the same, and tells Slurm that the machine has booted
  freeze-node, thaw-node DIR NUMBER   stops and continues all processes of a node
  cut-node, heal-node DIR NUMBER      only with netns: cuts a node off the network, and reconnects it
  kill-daemon DIR NAME         kills slurmctld, or slurmd-node1 and the like, and nothing else
  end-daemon DIR NAME          ends it with SIGTERM; slurmctld then saves what it knows, as every 5 s
  kill-steps DIR NUMBER        kills the slurmstepd processes of a node, and nothing else
  start-controller DIR         starts slurmctld again
  ps DIR                       prints the processes of the cluster
  stop DIR                     ends all processes of the cluster and removes DIR
END
}

fail()
{
  echo "slurm.sh: $*" >&2
  exit 1
}

skip()
{
  echo "slurm.sh: $*" >&2
  rmdir "$dir" 2>/dev/null
  exit 77
}

case ${1:-} in
  -h|--help) usage; exit 0 ;;
esac
[ $# -ge 2 ] || { usage >&2; exit 2; }
command=$1
[ "$command" != start ] || mkdir -p "$2" || exit 1
dir=$(cd "$2" 2>/dev/null && pwd -P) || fail "there is no folder '$2'"
shift 2
conf=$dir/etc/slurm.conf
nodes=0 cpus=0 net=plain auth=munge gpus=0 port=0
# shellcheck source=/dev/null
[ ! -f "$dir/settings" ] || . "$dir/settings"

wait_until() # SECONDS COMMAND...
{
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -le $end ] || return 1
    sleep 0.02 # lint: allow no-sleep, it is the time between two looks
  done
}

# ---- processes ----

# The file of a daemon's process: slurmctld, munged, slurmd-nodeN, space-ctl, space-nodeN, watch.
pid_of() # NAME
{
  cat "$dir/run/$1.pid" 2>/dev/null
}

# Whether a process is one of ours: it names the folder in its command. A zombie has no command. Nor
# has a process that is between two programs (exec), for a moment: it is looked at again.
lives() # PID
{
  local look
  [ -n "${1:-}" ] || return 1
  for ((look = 0; look < 100; look++)); do
    ! grep -qsF -- "$dir" "/proc/$1/cmdline" || return 0
    ! grep -qs . "/proc/$1/cmdline" && grep -qs '^State:.[^ZX]' "/proc/$1/status" || return 1
  done
  return 1
}

is_over() # PID...
{
  local pid
  for pid in "$@"; do
    ! lives "$pid" || return 1
  done
}

# Starts a program in the background, in a session of its own.
start_daemon() # NAME COMMAND...
{
  local name=$1
  shift
  setsid "$@" </dev/null >>"$dir/log/$name.out" 2>&1 &
  echo $! >"$dir/run/$name.pid"
  disown # this shell reports nothing about its end
}

# Runs a command in the namespaces of a node or the controller.
in_space() # ctl|nodeN COMMAND...
{
  local holder name=$1 kinds=(-n -u -p -m -r)
  shift
  [ "$name" != ctl ] || kinds=(-n)
  holder=$(cat "$dir/run/$name.holder" 2>/dev/null)
  if [ -n "$holder" ]; then
    nsenter -t "$holder" "${kinds[@]}" "$@"
  else
    "$@"
  fi
}

# Prints the processes of a node, or of all nodes: slurmd and slurmstepd hold the node's log file
# open, and the environment of everything in a step names the cluster and the node.
processes_of_node() # [nodeN]
{
  {
    find /proc/[0-9]*/fd -lname "$dir/log/slurmd-${1:-*}.log*" 2>/dev/null
    grep -lszxF -- "SLURM_CONF=$conf" /proc/[0-9]*/environ | xargs -r grep -lszx -- "SLURMD_NODENAME=${1:-.*}"
  } | cut -d/ -f3 | sort -nu | grep -vx $$
}

# Prints the commands of users, such as srun, that use the cluster.
clients()
{
  grep -lszxF -- "SLURM_CONF=$conf" /proc/[0-9]*/environ | cut -d/ -f3 | while read -r pid; do
    case $(cat "/proc/$pid/comm" 2>/dev/null) in
      srun|salloc|sbatch) echo "$pid" ;;
    esac
  done
}

signal_node() # SIGNAL nodeN
{
  local pids
  mapfile -t pids < <(processes_of_node "$2")
  [ ${#pids[@]} -eq 0 ] || kill -s "$1" "${pids[@]}" 2>/dev/null
  [ ${#pids[@]} -eq 0 ]
}

# ---- configuration ----

is_listening() # PORT
{
  in_space ctl grep -qi ":$(printf %04X "$1") [0-9A-F]*:0000 0A" /proc/net/tcp /proc/net/tcp6
}

choose_ports() # sets `port`: the controller's; the nodes have the next ones
{
  local i
  port=$((20000 + RANDOM % 1000 * 10))
  for ((i = port; i <= port + nodes; i++)); do
    ! is_listening "$i" || { choose_ports; return; }
  done
}

# The daemons bind to the addresses of their host names. All must be of this machine alone.
addresses()
{
  local host options=
  host=$(hostname)
  if [ "$net" = netns ]; then
    printf '%s\n' "SlurmctldHost=$host(10.77.0.1)"
    return
  fi
  case $(getent ahostsv4 "$host" | head -n 1) in
    127.*) options=,NoCtldInAddrAny ;;
  esac
  printf '%s\n' "SlurmctldHost=$host(127.0.0.1)" "CommunicationParameters=NoInAddrAny$options"
}

node_lines()
{
  local i where gres=
  [ "$gpus" -eq 0 ] || gres="Gres=gpu:$gpus"
  for ((i = 1; i <= nodes; i++)); do
    where="NodeAddr=127.0.0.1 NodeHostname=localhost Port=$((port + i))"
    [ "$net" = plain ] || where="NodeAddr=10.77.0.$((10 + i)) NodeHostname=node$i Port=6818"
    echo "NodeName=node$i $where CPUs=$cpus Boards=1 SocketsPerBoard=1 CoresPerSocket=$cpus" \
         "ThreadsPerCore=1 RealMemory=1000 $gres"
  done
}

# config_overrides: a node has the CPUs that this file says, not those of the machine. cred_expire
# below 5 is refused.
write_conf()
{
  local socket=
  [ "$auth" = none ] || socket="socket=$dir/run/munge.sock,"
  {
    addresses
    cat <<END
ClusterName=test
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/$auth
CredType=cred/$auth
AuthInfo=${socket}cred_expire=5
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldPidFile=$dir/run/slurmctld.self
SlurmdPidFile=$dir/run/slurmd-%n.self
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
PlugStackConfig=/dev/null
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=${SLURMD_TIMEOUT:-10}
MessageTimeout=3
TCPTimeout=2
KillWait=2
UnkillableStepTimeout=10
CompleteWait=0
InactiveLimit=0
END
    [ "$gpus" -eq 0 ] || echo GresTypes=gpu
    node_lines
    echo "PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO"
    printf '%s\n' "${EXTRA:-}"
  } >"$conf"
}

write_gpus()
{
  local i
  [ "$gpus" -gt 0 ] || return 0
  mkdir -p "$dir/dev"
  for ((i = 0; i < gpus; i++)); do
    ln -sf /dev/null "$dir/dev/nvidia$i"
  done
  printf '%s\n' AutoDetect=off "NodeName=node[1-$nodes] Name=gpu File=$dir/dev/nvidia[0-$((gpus - 1))]" \
    >"$dir/etc/gres.conf"
}

# ---- start ----

has_started_munge()
{
  [ -S "$dir/run/munge.sock" ] || ! lives "$(pid_of munged)"
}

# munged refuses a folder that others may write to, unless its sticky bit is set.
start_munge()
{
  [ "$auth" = munge ] || return 0
  [ -f "$dir/munge/key" ] || mungekey -c -k "$dir/munge/key" || return 1
  start_daemon munged munged -F --key-file="$dir/munge/key" --socket="$dir/run/munge.sock" \
    --pid-file="$dir/run/munged.self" --log-file="$dir/log/munged.log" --seed-file="$dir/munge/seed"
  wait_until 10 has_started_munge && lives "$(pid_of munged)"
}

# Prints the processes that another one has started and still has.
children() # PID
{
  cat "/proc/$1/task/$1/children" 2>/dev/null
}

has_child() # PID
{
  [ -n "$(children "$1")" ]
}

has_own_network() # PID
{
  [ "$(readlink "/proc/$1/ns/net")" != "$(readlink /proc/self/ns/net)" ]
}

# Makes the namespaces of a node; its process 1 waits in them, and is in $dir/run/nodeN.holder.
make_node_space() # NUMBER
{
  local name=node$1 pid holder
  # shellcheck disable=SC2016 # $1 and $2 are those of the inner shell
  start_daemon "space-$name" unshare -n -u -p -m --fork --kill-child --mount-proc \
    sh -c 'hostname "$1"; exec tail -f /dev/null' sh "$name" "$dir"
  pid=$(pid_of "space-$name")
  wait_until 10 has_child "$pid" || return 1
  holder=$(children "$pid")
  holder=${holder%% *}
  echo "$holder" >"$dir/run/$name.holder"
  in_space ctl ip link del "v$1" 2>/dev/null
  in_space ctl ip link add "v$1" type veth peer name eth0 netns "$holder" &&
    in_space ctl ip link set "v$1" master br0 up &&
    in_space "$name" ip addr add "10.77.0.$((10 + $1))/24" dev eth0 &&
    in_space "$name" ip link set eth0 up && in_space "$name" ip link set lo up
}

make_spaces()
{
  local i pid
  [ "$net" = netns ] || return 0
  # The process that stays must have the folder in its command, or lives() would not find it.
  start_daemon space-ctl unshare -n --fork --kill-child sh -c 'exec tail -f /dev/null' sh "$dir"
  pid=$(pid_of space-ctl)
  wait_until 10 has_own_network "$pid" || return 1
  echo "$pid" >"$dir/run/ctl.holder"
  in_space ctl ip link set lo up && in_space ctl ip link add br0 type bridge &&
    in_space ctl ip addr add 10.77.0.1/24 dev br0 && in_space ctl ip link set br0 up || return 1
  for ((i = 1; i <= nodes; i++)); do
    make_node_space "$i" || return 1
  done
}

# The holder of namespaces is not the process that entered them: nsenter becomes the daemon.
start_in_space() # NAME ctl|nodeN COMMAND...
{
  local name=$1 space=$2 holder kinds=(-n -u -p -m -r)
  shift 2
  [ "$space" != ctl ] || kinds=(-n)
  holder=$(cat "$dir/run/$space.holder" 2>/dev/null)
  if [ -n "$holder" ]; then
    start_daemon "$name" env -u SLURM_CONF nsenter -t "$holder" "${kinds[@]}" "$@"
  else
    start_daemon "$name" env -u SLURM_CONF "$@"
  fi
}

start_slurmd() # nodeN [OPTION]...
{
  start_in_space "slurmd-$1" "$1" slurmd -D -f "$conf" -N "$@"
}

# A daemon that has ended, for example because its port was taken meanwhile, never becomes idle.
are_idle()
{
  local i
  for ((i = 1; i <= nodes; i++)); do
    lives "$(pid_of "slurmd-node$i")" || return 0
  done
  [ "$(SLURM_CONF=$conf in_space ctl timeout 5 sinfo -h -N -o %T 2>/dev/null | grep -cx idle)" -ge "$nodes" ]
}

has_started()
{
  is_listening "$port" || ! lives "$(pid_of slurmctld)"
}

start_controller()
{
  start_in_space slurmctld ctl slurmctld -D -f "$conf"
  wait_until 10 has_started && lives "$(pid_of slurmctld)"
}

# A slurmd that does not find the controller looks again only after a second.
start_daemons()
{
  local i
  mkdir -p "$dir"/{etc,run,log,state,spool,munge} && chmod 700 "$dir/munge" || return 1
  make_spaces && choose_ports && write_conf && write_gpus && start_munge || return 1
  start_controller || return 1
  for ((i = 1; i <= nodes; i++)); do
    start_slurmd "node$i"
  done
  wait_until 60 are_idle && are_idle || return 1
  for ((i = 1; i <= nodes; i++)); do
    lives "$(pid_of "slurmd-node$i")" || return 1
  done
}

check_machine()
{
  local program
  for program in slurmctld slurmd srun munged; do
    [ "$program$auth" != mungednone ] || continue
    command -v "$program" >/dev/null ||
      skip "there is no $program; apt-get install slurmctld slurmd slurm-client munge"
  done
  id -un >/dev/null 2>&1 || skip "user $(id -u) has no name"
  [ ${#dir} -le 80 ] || fail "the path of the folder is too long for a socket: $dir"
  [ "$net" = plain ] || [ "$(id -u)" = 0 ] || skip "only root can run a cluster with NET=netns"
  [ "$net" = plain ] || unshare -n true 2>/dev/null || skip "root may not make namespaces here"
}

start() # [NODES] [CPUS]
{
  local tries
  [ ! -e "$dir/run" ] || fail "$dir holds a cluster; stop it first"
  nodes=${1:-3} cpus=${2:-2} net=${NET:-plain} auth=${AUTH:-munge} gpus=${GPUS:-0}
  check_machine
  umask 022
  chmod 755 "$dir"
  for tries in 1 2 3; do
    start_daemons && break
    tail -n 5 "$dir"/log/* >&2
    end_processes
    rm -rf "${dir:?}"/{run,state,spool,log}
    [ "$tries" -lt 3 ] || { rm -rf "$dir"; fail "the cluster does not start"; }
  done
  printf '%s=%q\n' nodes "$nodes" cpus "$cpus" net "$net" auth "$auth" gpus "$gpus" port "$port" >"$dir/settings"
  [ -z "${WATCH_PID:-}" ] ||
    start_daemon watch bash "$(readlink -f "${BASH_SOURCE[0]}")" watch "$dir" "$WATCH_PID"
}

# ---- end ----

end_watch() # with the `tail` of the function below
{
  local pid
  pid=$(pid_of watch)
  if [ "$pid" != $$ ] && lives "$pid"; then kill -KILL -- "-$pid"; fi
}

watch() # PID
{
  tail --pid="$1" -f /dev/null
  stop
}

end_daemons() # SIGNAL NAME...
{
  local signal=$1 name pid
  shift
  for name in "$@"; do
    pid=$(pid_of "$name")
    if lives "$pid"; then kill -s "$signal" "$pid" 2>/dev/null; fi
  done
}

# A slurmstepd that is killed leaves its step; so a node is over when nothing of it is found.
end_processes()
{
  local holders slurmds
  holders=$(cd "$dir/run" && ls space-*.pid 2>/dev/null)
  slurmds=$(cd "$dir/run" && ls slurmd-*.pid 2>/dev/null)
  end_watch
  end_daemons TERM slurmctld
  wait_until 10 signal_node KILL ""
  clients | xargs -r kill -KILL 2>/dev/null
  wait_until 10 is_over "$(pid_of slurmctld)" || end_daemons KILL slurmctld
  end_daemons TERM munged
  # shellcheck disable=SC2086 # names without blanks
  end_daemons KILL ${holders//.pid/} ${slurmds//.pid/}
  wait_until 10 is_over "$(pid_of munged)" || end_daemons KILL munged
}

# Prints the processes of the cluster that a stop has left; this script and its commands name the
# folder, too.
left()
{
  local pid
  grep -lsF -- "$dir" /proc/[0-9]*/cmdline | cut -d/ -f3 | while read -r pid; do
    grep -qsE '^Name:.(bash|sh|slurm.sh|grep|cut)$' "/proc/$pid/status" || [ ! -d "/proc/$pid" ] || echo "$pid"
  done
}

has_ended()
{
  [ -z "$(left)" ]
}

stop()
{
  [ -d "$dir/run" ] || fail "$dir holds no cluster"
  end_processes
  wait_until 10 has_ended || fail "left behind: $(left | xargs -r ps -o pid=,stat=,args= -p)"
  rm -rf "$dir"
}

kill_node() # NUMBER
{
  if [ "$net" = netns ]; then
    in_space ctl ip link set "v$1" down
    end_daemons KILL "space-node$1" "slurmd-node$1"
    rm -f "$dir/run/node$1.holder" "$dir/run/space-node$1.pid"
  fi
  wait_until 10 signal_node KILL "node$1"
  rm -f "$dir/run/slurmd-node$1.pid"
}

start_node() # NUMBER [OPTION]...
{
  ! lives "$(pid_of "slurmd-node$1")" || fail "node$1 runs"
  if [ "$net" = netns ]; then
    [ -f "$dir/run/node$1.holder" ] || make_node_space "$1" || fail "cannot make the namespaces of node$1"
  fi
  start_slurmd "node$1" "${@:2}"
}

thaw_node() # NUMBER
{
  signal_node CONT "node$1"
  end_daemons CONT "slurmd-node$1" # nsenter, which has stopped with its child
}

kill_steps() # NUMBER
{
  processes_of_node "node$1" | while read -r pid; do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != slurmstepd ] || kill -KILL "$pid" 2>/dev/null
  done
}

# ---- what is asked ----

list_processes()
{
  local pid text
  {
    cat "$dir"/run/*.pid
    processes_of_node
    clients
  } | sort -nu | while read -r pid; do
    text=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")
    [ -z "$text" ] || echo "$pid $text"
  done
}

case $command in
  start) start "$@" ;;
  env) printf 'export SLURM_CONF=%q\n' "$conf" ;;
  exec) SLURM_CONF=$conf in_space ctl "$@" ;;
  kill-node) kill_node "$1" ;;
  start-node) start_node "$1" ;;
  boot-node) start_node "$1" -b ;;
  freeze-node) signal_node STOP "node$1"; true ;;
  thaw-node) thaw_node "$1" ;;
  cut-node) in_space ctl ip link set "v$1" down ;;
  heal-node) in_space ctl ip link set "v$1" up ;;
  kill-daemon) end_daemons KILL "$1" && wait_until 10 is_over "$(pid_of "$1")" ;;
  end-daemon) end_daemons TERM "$1" && wait_until 10 is_over "$(pid_of "$1")" ;;
  kill-steps) kill_steps "$1"; true ;;
  start-controller) start_controller || fail "slurmctld does not start: $(tail -n 5 "$dir"/log/slurmctld.*)" ;;
  ps) list_processes ;;
  stop) stop ;;
  watch) watch "$@" ;;
  *) echo "slurm.sh: unknown command '$command'" >&2; usage >&2; exit 2 ;;
esac
