"""What tools/gpu-check computes from what runs wrote: losses side by side, the table of kernels, rates."""

import json
import statistics

# Loss of one step on another device: sums in another order, and in f32 products by TF32 where the library chooses it.
TOLERANCE = 2e-3


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def losses(cpu, gpu):
    """The losses of steps that both have made, as text; and what is wrong, or nothing."""
    pairs = list(zip(lines(cpu), lines(gpu)))
    worst = max((abs(a["loss"] - b["loss"]) / abs(a["loss"]) for a, b in pairs), default=float("nan"))
    text = [f"step {a['step']}: loss {a['loss']:.6f} on the CPU, {b['loss']:.6f} on the GPU" for a, b in pairs]
    if not pairs or not worst <= TOLERANCE:
        return text, f"losses differ by {worst:.2e}; at most {TOLERANCE:.0e} is allowed"
    return text + [f"{len(pairs)} steps: losses differ by at most {worst:.1e}"], None


def table(kernels, trace, metrics):
    """Lines of a table, each kernel's time beside its floor; and lines of rates."""
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
    text = [f"{'':54} {'runs':>6} {'us each':>10} {'floor':>9} {'x floor':>8} {'TFLOP/s':>8} {'share':>6}"]
    rates = {"products": [0, 0.0], "attention": [0, 0.0], "all": [0, 0.0]}
    for work, each in rows:
        floor, mean = known[work]["floor_us"], statistics.mean(each)
        for kind in ["all"] + ["products"] * (work == "gemm") + ["attention"] * work.startswith("k_attention"):
            rates[kind][0] += known[work]["flops"] * len(each)
            rates[kind][1] += sum(each)
        name = "all products" if work == "gemm" else work
        text.append(f"{name[:54]:54} {len(each):>6} {mean:>10.1f} {floor:>9.2f} {ratio(mean, floor):>8.1f} "
                    f"{ratio(known[work]['flops'], mean * 1e6):>8.2f} {ratio(sum(each), whole):>6.1%}")
    rated = [f"{kind}: {flops / micros / 1e6:.2f} TFLOP/s over {micros / 1e3:.1f} ms of a step"
             for kind, (flops, micros) in rates.items() if micros]
    steps = lines(metrics)[2:] or lines(metrics)[-1:] # the first ones warm up
    seconds = statistics.median(step["seconds"] for step in steps)
    flops = steps[-1]["flops_per_second"] * steps[-1]["seconds"]
    floor = sum(known[work]["floor_us"] * len(each) for work, each in rows)
    rated.append(f"a step takes {seconds * 1e3:.1f} ms: {steps[-1]['tokens'] / seconds:.0f} tokens/s, {flops / seconds / 1e12:.2f} TFLOP/s; "
                 f"on {report['gpu']} its kernels need at least {floor / 1e3:.2f} ms, {ratio(floor / 1e6, seconds):.1%} of that")
    # The largest product's least time is that of its FLOPs, not of its bytes.
    peak = max((ratio(item["flops"], item["floor_us"] * 1e6) for item in products.values()), default=0)
    rated.append(f"MFU: {ratio(flops / seconds / 1e12, peak):.1%} of the {peak:.0f} TFLOP/s that its largest product could have")
    return text, rated


def ratio(a, b):
    return a / b if b else float("nan")
