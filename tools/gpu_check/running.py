"""Commands of tools/gpu-check: each ends by its part's deadline, with all that it started; what a GoogleTest program said."""

import os
import re
import signal
import subprocess
import time


class Failure(Exception):
    """A check that did not pass; its text is one line."""


class Part:
    """What a part of the check works with: until when, where its output goes, and what it found."""

    def __init__(self, name, seconds, folder):
        self.name, self.deadline = name, time.monotonic() + seconds
        self.log = os.path.join(folder, f"{name}.log")
        self.facts, self.faults, self.checked = [], [], True

    def say(self, fact):
        self.facts.append(fact)

    def fail(self, fault):
        self.faults.append(fault)

    def run(self, command, what, environment=None, output=None):
        """Runs a command to its end; its output is returned. Failure where it ends badly or late."""
        return self.run_all([(command, environment or {})], what, [output])[0]

    def run_all(self, commands, what, outputs=None):
        """The same of several side by side."""
        files = [open(output, "w+") if output else open(f"{self.log}.{i}", "w+")
                 for i, output in enumerate(outputs or [None] * len(commands))]
        running = [subprocess.Popen([str(word) for word in command], stdout=file, env={**os.environ, **environment},
                                    stderr=subprocess.STDOUT if not (outputs and outputs[i]) else None,
                                    stdin=subprocess.DEVNULL, start_new_session=True)
                   for i, ((command, environment), file) in enumerate(zip(commands, files))]
        late = False
        for process in running:
            try:
                process.wait(max(0.0, self.deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                late = True
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        texts = []
        with open(self.log, "a") as log:
            for (command, _), file in zip(commands, files):
                file.seek(0)
                texts.append(file.read())
                file.close()
                print("$", *command, file=log)
                log.write(texts[-1])
        bad = [process.returncode for process in running if process.returncode]
        if late:
            raise Failure(f"{what}: out of time", texts)
        if bad:
            raise Failure(f"{what}: exit status {bad[0]}; {last_line(texts)}", texts)
        return texts

    def tests(self, program, gtest_filter, shards=1, environment=None):
        """A GoogleTest program, cut over several processes; counts its tests, names those that failed or were skipped."""
        commands = [([program, f"--gtest_filter={gtest_filter}"],
                     {**(environment or {}), "GTEST_TOTAL_SHARDS": str(shards), "GTEST_SHARD_INDEX": str(shard)})
                    for shard in range(shards)]
        try:
            texts, fault = self.run_all(commands, os.path.basename(str(program))), None
        except Failure as failure:
            fault, texts = failure.args
        passed, failed, skipped = counts(texts)
        self.say(f"{passed} tests passed")
        if skipped:
            self.say(f"{sum(skipped.values())} skipped: " + "; ".join(sorted(skipped)))
        for name in failed:
            self.fail(name)
        if fault and not (failed and "exit status" in fault):
            self.fail(fault)
        if not fault and not passed and not skipped:
            self.fail(f"{os.path.basename(str(program))}: no test was run")


def counts(texts):
    """Of the output of GoogleTest: how many passed, the names of those that failed, how many were skipped by reason."""
    passed, failed, skipped = 0, [], {}
    for text in texts:
        passed += len(re.findall(r"^\[       OK \] ", text, re.M))
        failed += [name for name in dict.fromkeys(re.findall(r"^\[  FAILED  \] ([^\s,]+)[^\n]* \(\d+ ms\)$", text, re.M))]
        for reason in re.findall(r"Skipped\n(.*)\n", text):
            skipped[reason] = skipped.get(reason, 0) + 1
    return passed, failed, skipped


def last_line(texts):
    lines = [line for text in texts for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
