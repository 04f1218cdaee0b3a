"""What tools/gpu-check asks and computes.

  gpu-check.py gpus                        the names of this machine's GPUs, a line each; or what is missing (status 1)
  gpu-check.py like NAME                   the GPU of `hocket explain --gpu` that a name stands for
  gpu-check.py losses CPU.jsonl GPU.jsonl  compares the losses of steps that both have made
  gpu-check.py table KERNELS.json TRACE GPU.jsonl
"""

import ctypes
import json
import statistics
import sys

# Loss of one step on another device: sums in another order, and in f32 products by TF32 where the library chooses it.
TOLERANCE = 2e-3


def lacking(what):
    print(f"gpu-check: no GPU: the NVIDIA driver {what}")
    sys.exit(1)


def gpus():
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        lacking(f"is missing ({error})")
    if code := driver.cuInit(0):
        lacking(f"does not start (cuInit: {code})")
    count = ctypes.c_int()
    if driver.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        lacking("sees none")
    for number in range(count.value):
        name = ctypes.create_string_buffer(256)
        driver.cuDeviceGetName(name, 256, number)
        print(name.value.decode())


def like(name):
    """NVIDIA A100-SXM4-40GB -> A100-40GB; of an unknown one H100, which the table then names."""
    chip = next((chip for chip in ("B200", "H200", "H100", "A100") if chip in name), "H100")
    print(chip + ("-PCIe" if chip == "H100" and "PCIe" in name else "-40GB" if chip == "A100" and "40GB" in name else ""))


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def losses(cpu, gpu):
    pairs = list(zip(lines(cpu), lines(gpu)))
    worst = 0.0
    for a, b in pairs:
        worst = max(worst, abs(a["loss"] - b["loss"]) / abs(a["loss"]))
        print(f"step {a['step']}: loss {a['loss']:.6f} on the CPU, {b['loss']:.6f} on the GPU")
    if not pairs or not worst <= TOLERANCE:
        sys.exit(f"losses differ by {worst:.2e}; at most {TOLERANCE:.0e} is allowed")
    print(f"{len(pairs)} steps: losses differ by at most {worst:.1e}")


def table(kernels, trace, metrics):
    with open(kernels) as file:
        report = json.load(file)
    known = {item["name"]: item for item in report["kernels"]}
    products = {item["name"]: item for item in report["products"]}
    # All products of a step are one row: a trace names them by layer, not by size.
    runs = [(run["name"].removeprefix("product "), run["times"]) for run in report["stages"][0]["runs"]]
    times = sum(count for name, count in runs if name in products)
    total = {key: sum(products[name][key] * count for name, count in runs if name in products) for key in ("flops", "floor_us")}
    if times:
        known["gemm"] = {key: value / times for key, value in total.items()}
    with open(trace) as file:
        pieces = [event for event in json.load(file)["traceEvents"] if event.get("ph") == "X"]
    last = max(event["args"]["step"] for event in pieces)
    spent = {}
    for event in pieces:
        work = event["name"].split(" ")[0]
        if event["args"]["step"] == last and work in known:
            spent.setdefault(work, []).append(event["dur"])
    rows = sorted(spent.items(), key=lambda row: -sum(row[1]))
    whole = sum(sum(each) for _, each in rows)
    print(f"{'':54} {'runs':>6} {'us each':>10} {'floor':>9} {'x floor':>8} {'TFLOP/s':>8} {'share':>6}")
    rates = {"products": [0, 0.0], "attention": [0, 0.0], "all": [0, 0.0]}
    for work, each in rows:
        floor, mean = known[work]["floor_us"], statistics.mean(each)
        for kind in ["all"] + ["products"] * (work == "gemm") + ["attention"] * work.startswith("k_attention"):
            rates[kind][0] += known[work]["flops"] * len(each)
            rates[kind][1] += sum(each)
        name = "all products" if work == "gemm" else work
        print(f"{name[:54]:54} {len(each):>6} {mean:>10.1f} {floor:>9.2f} {ratio(mean, floor):>8.1f} "
              f"{ratio(known[work]['flops'], mean * 1e6):>8.2f} {ratio(sum(each), whole):>6.1%}")
    for kind, (flops, micros) in rates.items():
        if micros:
            print(f"{kind}: {flops / micros / 1e6:.2f} TFLOP/s over {micros / 1e3:.1f} ms of a step")
    steps = lines(metrics)[2:] or lines(metrics)[-1:] # the first ones warm up
    seconds = statistics.median(step["seconds"] for step in steps)
    flops = steps[-1]["flops_per_second"] * steps[-1]["seconds"]
    floor = sum(known[work]["floor_us"] * len(each) for work, each in rows)
    print(f"a step takes {seconds * 1e3:.1f} ms: {steps[-1]['tokens'] / seconds:.0f} tokens/s, {flops / seconds / 1e12:.2f} TFLOP/s; "
          f"on {report['gpu']} its kernels need at least {floor / 1e3:.2f} ms, {ratio(floor / 1e6, seconds):.1%} of that")
    # The largest product's least time is that of its FLOPs, not of its bytes.
    peak = max((ratio(item["flops"], item["floor_us"] * 1e6) for item in products.values()), default=0)
    print(f"MFU: {ratio(flops / seconds / 1e12, peak):.1%} of the {peak:.0f} TFLOP/s that its largest product could have")


def ratio(a, b):
    return a / b if b else float("nan")


if __name__ == "__main__":
    {"gpus": gpus, "like": like, "losses": losses, "table": table}[sys.argv[1]](*sys.argv[2:])
