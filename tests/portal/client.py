"""A portal of a test, and requests to it as bytes."""
import json
import os
import re
import select
import signal
import socket
import subprocess
import threading
import time

LIMIT_S = 60


class Answer:
    def __init__(self, data):
        head, _, self.body = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0] else 0
        self.headers = [line.split(": ", 1) for line in lines[1:] if ": " in line]

    def header(self, name):
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def cookies(self):
        return [value for key, value in self.headers if key.lower() == "set-cookie"]

    def text(self):
        return self.body.decode("utf-8", "replace")


class Portal:
    """`tidemill portal`, until stop(). `url`, `port`, `prefix`, `token`: what it prints."""

    def __init__(self, tidemill, workspace, *options, env=None, address=None, cwd=None):
        environment = dict(os.environ, TIDEMILL_WORKSPACE=workspace, **(env or {}))
        self.path = address
        self.process = subprocess.Popen([tidemill, "portal", *options], env=environment, cwd=cwd,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            if "Ctrl-C" in line:
                break
        found = re.search(r"(http://(\S+?)/(\w+)/\?token=(\w+))", self.said)
        if not found or "already running" in self.said:
            raise AssertionError(self.said + self.process.stderr.read())
        self.url, host, self.prefix, self.token = found.groups()
        self.port = int(host.rsplit(":", 1)[1])
        self.cookie = None
        self.errors = ""  # what it has said until stop()

    def pid(self):
        return self.process.pid

    def connect(self):
        if self.path:
            s = socket.socket(socket.AF_UNIX)
            s.settimeout(LIMIT_S)
            s.connect(self.path)
            return s
        return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)

    def raw(self, data):
        """Sends the bytes, and returns everything that comes until the portal closes."""
        with self.connect() as s:
            try:
                s.sendall(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has answered and closed already
            return read_all(s)

    def get(self, path, method="GET", host="localhost", cookie=True, **headers):
        """`path`: behind the prefix, or absolute. Headers: Sec_Fetch_Site="none", None leaves it out."""
        target = path if path.startswith("/") else f"/{self.prefix}/{path}"
        lines = [f"{method} {target} HTTP/1.1"]
        if host is not None:
            lines.append(f"Host: {host}")
        if cookie:
            lines.append(f"Cookie: {self.login() if cookie is True else cookie}")
        lines += [f"{key.replace('_', '-')}: {value}" for key, value in headers.items()]
        return Answer(self.raw(("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode()))

    def login(self):
        if not self.cookie:
            answer = self.get(f"?token={self.token}", cookie=False)
            self.cookie = answer.cookies()[0].split(";")[0]
        return self.cookie

    def stream(self, topics, last_id=None):
        """An event stream: a file to read lines from."""
        s = self.connect()
        more = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
        s.sendall((f"GET /{self.prefix}/events?topics={topics} HTTP/1.1\r\nHost: localhost\r\n"
                   f"Cookie: {self.login()}\r\n{more}\r\n").encode())
        with s:  # the file keeps the connection
            return s.makefile("r", encoding="utf-8", newline="\n")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid()}/fd"))

    def ticks(self):
        """The hundredths of a second that it has computed."""
        with open(f"/proc/{self.pid()}/stat") as f:
            return sum(int(n) for n in f.read().split()[13:15])

    def stop(self, sig=signal.SIGTERM):
        """Ends it; returns its exit status and how long that took."""
        began = time.monotonic()
        self.process.send_signal(sig)
        status = self.process.wait(LIMIT_S)
        seconds = time.monotonic() - began
        said = self.errors = self.process.stderr.read()
        self.process.stdout.close()
        self.process.stderr.close()
        if "ERROR: " in said or "runtime error: " in said:  # of a sanitizer
            raise AssertionError(said)
        return status, seconds


class Tunnel:
    """Carries connections to a port of this machine, as `ssh -L` does. After go_silent(), event streams stay open and say
    nothing for ever; other connections end, and new ones work."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.goal = self.listener.getsockname()[1], port
        self.pairs, self.streams, self.silent = [], set(), set()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        try:
            while True:
                near = self.listener.accept()[0]
                pair = near, socket.create_connection(("127.0.0.1", self.goal))
                self.pairs.append(pair)
                for source, sink in (pair, pair[::-1]):
                    threading.Thread(target=self.carry, args=(pair, source, sink), daemon=True).start()
        except OSError:
            pass  # closed

    def carry(self, pair, source, sink):
        try:
            while data := source.recv(1 << 16):
                if b"/events?" in data:
                    self.streams.add(pair)
                if pair not in self.silent:
                    sink.sendall(data)
        except OSError:
            pass
        if pair not in self.silent:
            self.end(pair)

    def end(self, pair):
        for s in pair:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # the other side has ended it
            s.close()

    def go_silent(self):
        self.silent |= self.streams
        for pair in self.pairs:
            if pair not in self.silent:
                self.end(pair)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for pair in self.pairs:
            self.end(pair)


def read_all(s):
    data = b""
    try:
        while piece := s.recv(1 << 16):
            data += piece
    except ConnectionResetError:
        pass
    return data


def is_alive(pid):
    """Not: has ended, and its parent has not noticed yet."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(") ")[2][0] not in "ZX"
    except FileNotFoundError:
        return False


def next_event(stream):
    """The next event of a stream: its id and its data."""
    found = {}
    for line in stream:
        line = line.strip()
        if line.startswith(("id: ", "data: ", "event: ")):
            key, value = line.split(": ", 1)
            found[key] = value
        elif line == "" and "id" in found:
            return found["id"], json.loads(found["data"])
        elif line == "":
            found = {}  # a beat
    raise AssertionError("the stream has ended")


def wait_until(condition, what):
    """Looks again and again; a change of the file system or of /proc has no descriptor to wait for."""
    until = time.monotonic() + LIMIT_S
    while not (found := condition()):
        if time.monotonic() > until:
            raise AssertionError(f"this never came: {what}")
        select.select([], [], [], 0.01)
    return found
