"""A client of the Language Server Protocol: messages with Content-Length, as editors send them."""
import json
import queue
import subprocess
import threading


class Client:
    def __init__(self, *options):
        self.process = subprocess.Popen(["hocket-lsp-server", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.inbox = queue.Queue()
        self.published = {}  # (file, version) -> lists of diagnostics, in order of arrival
        self.id = 0
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while (line := out.readline()).strip():
                name, value = line.decode().split(":")
                if name.lower() == "content-length":
                    length = int(value)
            if length is None:
                return self.inbox.put(None)
            self.inbox.put(json.loads(out.read(length)))

    def _next(self):
        message = self.inbox.get(timeout=120)
        if message is None:
            raise EOFError(f"the server ended with status {self.process.wait()}")
        if message.get("method") == "textDocument/publishDiagnostics":
            p = message["params"]
            self.published.setdefault((p["uri"], p.get("version")), []).append(p["diagnostics"])
        return message

    def _send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def notify(self, method, **params):
        self._send(method=method, params=params)

    def request(self, method, **params):
        self.id += 1
        self._send(id=self.id, method=method, params=params)
        while (message := self._next()).get("id") != self.id:
            pass
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def start(self):
        answer = self.request("initialize", processId=None, rootUri=None, capabilities={})
        self.notify("initialized")
        return answer

    def open(self, uri, text, version=1):
        self.notify("textDocument/didOpen", textDocument=dict(uri=uri, languageId="hocket", version=version, text=text))

    def change(self, uri, text, version):
        self.notify("textDocument/didChange", textDocument=dict(uri=uri, version=version), contentChanges=[dict(text=text)])

    def at(self, method, uri, line, character):
        return self.request(f"textDocument/{method}", textDocument=dict(uri=uri), position=dict(line=line, character=character))

    def diagnostics(self, uri, version, count):
        """The last of `count` lists that were sent for a version."""
        while len(self.published.get((uri, version), [])) < count:
            self._next()
        return self.published[uri, version][count - 1]

    def stop(self):
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(timeout=120)


def place(text, what, skip=0):
    """Line and character of the first place of `what` in `text`, `skip` characters on."""
    at = text.index(what) + skip
    begin = text.rfind("\n", 0, at) + 1
    return text.count("\n", 0, at), len(text[begin:at].encode("utf-16-le")) // 2
