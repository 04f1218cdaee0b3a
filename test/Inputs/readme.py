# Holds the listings of a README to what the commands print today.
#   readme.py SOURCE_DIR README.md…
# A listing is a fenced block behind a comment that names its command:
#   <!-- listing: hocket explain examples/tiny/model.mlir --plan ptd -->       must exit with 0
#   <!-- listing (exit 1): … -->                                               must exit with 1
# Its lines must be the output's, in order and one right behind the other. A line `…` skips any number of lines, also none; `…`
# within a line skips text. Spaces at either end of a line do not count, nor does a comment at the end of a listing's line that
# starts with `// <-`.
# Commands run in one folder a README, which starts with nothing but `examples` in it.
import difflib, os, re, subprocess, sys, tempfile

LISTING = re.compile(r"<!-- listing(?: \(exit (\d+)\))?: (.*?) -->\n+```\w*\n(.*?)^```", re.S | re.M)
MARKER = re.compile(r"<!-- listing")


def matches(line, real):
    return re.fullmatch(".*?".join(re.escape(part) for part in line.split("…")), real) is not None


def fault_of(listing, output):
    """The first line of the listing that the output does not have in its place, or None."""
    real = [line.strip() for line in output.splitlines()]
    at, skip = 0, True
    for line in listing.splitlines():
        line = re.sub(r"\s*// <-.*", "", line).strip()
        if line == "…":
            skip = True
        elif skip:
            places = [i for i in range(at, len(real)) if matches(line, real[i])]
            if not places:
                return line, real[at:]
            at, skip = places[0] + 1, False
        else:
            if at >= len(real) or not matches(line, real[at]):
                return line, real[at:at + 1]
            at += 1
    return None


def main():
    source, faults, count = sys.argv[1], 0, 0
    for readme in sys.argv[2:]:
        text = open(os.path.join(source, readme), encoding="utf-8").read()
        found = LISTING.findall(text)
        if len(found) != len(MARKER.findall(text)):
            print(f"{readme}: a listing's comment has no fenced block behind it")
            faults += 1
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
            for status, command, listing in found:
                count += 1
                run = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
                output = run.stdout.decode("utf-8", "replace")
                if run.returncode != int(status or 0):
                    print(f"{readme}: exit status {run.returncode}, not {int(status or 0)}, of: {command}\n{output[-2000:]}")
                    faults += 1
                elif fault := fault_of(listing, output):
                    near = difflib.get_close_matches(fault[0], fault[1], 1, 0)
                    print(f"{readme}: not in the output of: {command}\n  listing: {fault[0]}\n  nearest: {near[0] if near else '(none)'}")
                    faults += 1
    if not count:
        print("no listing found")
    print(f"{count} listings, {faults} faults")
    return 1 if faults or not count else 0


sys.exit(main())
