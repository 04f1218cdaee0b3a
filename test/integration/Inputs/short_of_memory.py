# Runs a command under ever higher limits of address space until it is done: before, it always ends with status 4 and one error, which
# at least once is of memory that no library names.
#   short_of_memory.py KIB -- COMMAND…
import resource, subprocess, sys

limit, command = int(sys.argv[1]) * 1024, sys.argv[3:]
refused = 0
while True:
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    if ran.returncode == 0:
        break
    loaded = "error while loading shared libraries" not in ran.stdout # the loader speaks for itself
    if loaded and (ran.returncode != 4 or ran.stdout.count("error: ") != 1 or "Stack dump" in ran.stdout):
        sys.exit(f"with {limit} bytes: status {ran.returncode}\n{ran.stdout}")
    refused += "out of memory: the system gives" in ran.stdout
    limit = limit * 110 // 100
print("refused" if refused else "never refused")
