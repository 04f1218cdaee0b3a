"""Holds every number that `hocket explain --format=json` gives for a large model to formulas written here by hand.

    by_hand.py gpt3-175b|llama3-405b EXPLAIN.json

Formulas use the sizes of the papers and of the plan and nothing that the compiler says. Words are 4 bytes.
"""
import json
import sys
from collections import Counter
from math import prod

WORD = 4  # bytes
BUCKET = 4 << 20  # bytes that collectives of parameters carry together, unless the plan says otherwise
errors = []


def same(what, found, expected):
    if found != expected:
        errors.append(f"{what}: explain says {found}, by hand it is {expected}")


class Job:
    """Sizes: s sequence, h hidden, a heads, t tensor-parallel ranks, d data-parallel ranks, p stages, m microbatches."""

    def stage_layers(self, stage):
        """Even, longer stages first."""
        return self.layers // self.p + (stage < self.layers % self.p)

    def last_layer(self, stage):
        return sum(self.stage_layers(s) for s in range(stage + 1)) - 1

    def first(self, stage):
        return stage == 0

    def last(self, stage):
        return stage == self.p - 1

    def in_flight(self, stage):
        """1F1B: stage s keeps p - s microbatches."""
        return min(self.m, self.p - stage)

    def ring(self, op, size, ranks):
        """Bytes one rank sends for a collective of `size` bytes."""
        return (2 if op == "all_reduce" else 1) * size * (ranks - 1) // ranks


class Gpt3(Job):
    layers, h, a, s, vocabulary = 96, 12288, 96, 2048, 50257
    p, d, t, batch = 16, 8, 8, 1536
    m = batch // d
    f = 4 * h
    ranks_of = {"tp": t, "dp": d, "dp tp": d * t, "pp": p, "pp at 0 15": 2}
    parameters = layers * (12 * h * h + 13 * h) + vocabulary * h + s * h + 2 * h

    def held(self, stage):
        """(elements of the whole, elements on a rank) of each parameter; uneven vocabulary rows are padded."""
        h, f, t = self.h, self.f, self.t
        layer = [(h, h)] * 6  # two norms, gain and bias; biases of the two row-parallel products
        layer += [(n, n // t) for n in (3 * h * h, 3 * h, h * h, h * f, f, f * h)]
        wte = (self.vocabulary * h, -(-self.vocabulary // t) * h)
        held = layer * self.stage_layers(stage)
        held += [wte, (self.s * h, self.s * h)] if self.first(stage) else []
        held += [wte, (h, h), (h, h)] if self.last(stage) else []
        return held

    def kept(self, stage):
        """Elements kept for a microbatch in flight, besides what messages carry."""
        s, h, t = self.s, self.h, self.t
        # whole: two norms, the sum after attention, the layer's result; split: q k v, attention; before and after gelu,
        # each 4h wide; and the log-sum-exp of each row and head
        kept = self.stage_layers(stage) * (4 * s * h + (4 + 8) * s * h // t + s * self.a // t)
        if not self.last(stage):
            kept -= s * h  # the last layer's result lies in the message
        if self.first(stage):
            kept += s * h  # what the first layer reads
        if self.last(stage):
            kept += s * h + s * -(-self.vocabulary // t) + s  # last norm, logits, their log-sum-exp
        return kept

    def microbatch_transfers(self, stage):
        """(phase, op, axes, bytes): how often in a microbatch."""
        n, whole, row = self.stage_layers(stage), WORD * self.s * self.h, WORD * self.s
        out = Counter()
        out["forward", "all_reduce", "tp", whole] = 2 * n + self.first(stage)
        out["backward", "all_reduce", "tp", whole] = 2 * n + self.last(stage)
        out["forward", "all_reduce", "tp", row] = 3 * self.last(stage)  # maximum, sum of exponentials, label's logit
        return out

    def scalars(self, stage):
        """Square sums that are reduced together, by axes."""
        n = self.stage_layers(stage)
        return {"dp": self.first(stage) + self.last(stage),  # positions; the loss
                "dp tp": 6 * n + (self.first(stage) or self.last(stage)),
                "pp": 12 * self.layers + 4 + 1}

    def workspace(self, stage):
        """Elements that the op which needs most has to hold at once. No gradient of a weight is among them, as products
        add theirs into the accumulators: what counts is whole activations, and the largest shard is not needed."""
        s, h, rows = self.s, self.h, -(-self.vocabulary // self.t)
        # A norm's backward: the gradient that comes, the one that goes past it, their sum; and positions, for attention.
        norm = 3 * s * h + s
        # The head's backward, by a table whose missing rows are zeroed in a copy: that; gradients of logits, twice, as
        # those of missing rows must be zero as well where products sum over them; what comes of both.
        head = rows * h + 2 * s * rows + s * h
        return ("wte", head) if self.last(stage) else (f"h.{self.last_layer(stage)}", norm)

    def tied(self, stage):
        return {"pp at 0 15": WORD * -(-self.vocabulary // self.t) * self.h} if stage in (0, self.p - 1) else {}


class Llama3(Job):
    layers, h, a, kv, s, vocabulary, f = 126, 16384, 128, 8, 8192, 128256, 53248
    p, d, t, batch = 16, 64, 16, 2048
    m = batch // d
    head = h // a
    ranks_of = {"tp": t, "tp:(1)8": 8, "tp:(8)2": 2, "dp": d, "dp tp": d * t, "dp tp:(1)8": d * 8, "pp": p}
    parameters = layers * (2 * h * h + 2 * h * kv * head + 3 * h * f + 2 * h) + 2 * vocabulary * h + h

    def held(self, stage):
        h, t = self.h, self.t
        keys = 2 * h * self.kv * self.head
        layer = [(h, h)] * 2 + [(n, n // t) for n in (h * h, h * h, 2 * h * self.f, self.f * h)]
        layer += [(keys, keys // self.kv)]  # a KV head lives on two ranks
        table = (self.vocabulary * h, self.vocabulary // t * h)
        return layer * self.stage_layers(stage) + [table] * self.first(stage) + [table, (h, h)] * self.last(stage)

    def kept(self, stage):
        s, h, t = self.s, self.h, self.t
        # whole: two norms, the sum after attention, the layer's result; split: queries, attention, one KV head's keys
        # and values, the log-sum-exp; gate, up, silu of gate, and their product
        kept = self.stage_layers(stage) * (
            4 * s * h + 2 * s * h // t + 2 * s * self.head + s * self.a // t + 4 * s * self.f // t)
        kept += s * h * (self.first(stage) - (not self.last(stage)))
        if self.last(stage):
            kept += s * h + s * self.vocabulary // t + s
        return kept

    def microbatch_transfers(self, stage):
        n, whole, row = self.stage_layers(stage), WORD * self.s * self.h, WORD * self.s
        out = Counter()
        out["forward", "all_reduce", "tp", whole] = 2 * n + self.first(stage)
        out["forward", "all_reduce", "tp", row] = 3 * self.last(stage)
        out["backward", "all_reduce", "tp", whole] = 2 * n + self.last(stage)
        # Two ranks share a KV head: gradients of keys and of values
        out["backward", "all_reduce", "tp:(8)2", WORD * self.s * self.head] = 2 * n
        return out

    def scalars(self, stage):
        n = self.stage_layers(stage)
        return {"dp": 2 * n + 2 * self.last(stage),  # norms; the last norm and the loss
                "dp tp": 4 * n + self.first(stage) + self.last(stage),
                "dp tp:(1)8": n,
                "pp": 7 * self.layers + 3 + 1}

    def workspace(self, stage):
        """The backward of queries: their gradient, what comes of it and what came of keys and values, which are added
        next, the gradient that goes past the layer's attention; and positions, for the next rotation."""
        s, h = self.s, self.h
        return f"layers.{self.last_layer(stage)}", 3 * s * h + s * h // self.t + s

    def tied(self, stage):
        return {}


def bytes_by_class(job, stage):
    local = sum(n for _, n in job.held(stage))
    # ZeRO 1: two moments, split over dp unless the whole parameter has less than 64 KiB
    moments = sum(n // job.d if whole * WORD >= 64 << 10 else n for whole, n in job.held(stage))
    edges = 2 - job.first(stage) - job.last(stage)
    tokens = job.m * job.s * 4
    return {
        "parameter": WORD * local,
        "accumulator": WORD * (local + job.last(stage)),  # the loss
        "optimizer_state": 2 * WORD * moments,
        "activation": WORD * job.in_flight(stage) * job.kept(stage),
        "communication": WORD * job.in_flight(stage) * edges * job.s * job.h,  # what comes in: a gradient lies where the activation went out
        "input": (2 if job.first(stage) else 1) * tokens + 8,  # labels everywhere (they are counted), tokens; the step
        "scalar": 5 * 4 + 2 * 8,  # f32: 1/count, loss, its sum, norm, rate; i64: two counts
    }


def padding(job, stage):
    """Bytes up to the next 64 behind what is no multiple of that: scalars (f32, i64), the step, the loss's sum."""
    return 5 * 60 + 2 * 56 + 56 + 60 * job.last(stage)


def transfers(job, stage):
    out = Counter()
    for key, count in job.microbatch_transfers(stage).items():
        out[key] += count * job.m
    message = WORD * job.s * job.h
    if not job.last(stage):
        out["forward", "send", f"stage {stage} to {stage + 1}", message] = job.m
        out["backward", "receive", f"stage {stage + 1} to {stage}", message] = job.m
    if not job.first(stage):
        out["forward", "receive", f"stage {stage - 1} to {stage}", message] = job.m
        out["backward", "send", f"stage {stage} to {stage - 1}", message] = job.m
    out["begin", "all_reduce", "dp", 8] = 1  # the count of tokens
    together = Counter()
    for whole, local in job.held(stage):
        for op in ("reduce_scatter", "all_gather") if whole * WORD >= 64 << 10 else ("all_reduce",):
            if WORD * local > BUCKET:
                out["update", op, "dp", WORD * local] += 1
            else:  # small ones go in one message
                together[op] += WORD * local
    for op, size in together.items():
        assert size <= BUCKET, "more than one message"
        out["update", op, "dp", size] += 1
    for axes, count in job.scalars(stage).items():
        out["update", "all_reduce", axes, WORD * count] += 1
    for axes, size in job.tied(stage).items():
        out["update", "all_reduce", axes, size] += 1
    return Counter({key: count for key, count in out.items() if count and key[3]})


def check(job, said):
    same("parameters", said["parameters"], job.parameters)
    same("stages", len(said["ranks"]), job.p)
    for stage, rank in enumerate(said["ranks"]):
        where = f"stage {stage}"
        same(f"{where}: ranks", rank["ranks"], job.d * job.t)
        found = dict(rank["bytes_by_class"])
        workspace = found.pop("workspace")
        expected = bytes_by_class(job, stage)
        for name in sorted(found.keys() | expected.keys()):
            same(f"{where}: bytes of {name}", found.get(name, 0), expected.get(name, 0))
        same(f"{where}: peak", rank["peak_bytes"], sum(expected.values()) + workspace)
        of, elements = job.workspace(stage)
        same(f"{where}: workspace", rank["memory"]["workspace"]["bytes"], WORD * elements)
        same(f"{where}: where most is needed", rank["memory"]["workspace"]["peak"], f"backward of {of}")
        same(f"{where}: workspace with padding", workspace, WORD * elements + padding(job, stage))
        same(f"{where}: elements of parameters on a rank", sum(prod(s["local"]) for s in rank["state"]),
             sum(n for _, n in job.held(stage)))
        order = rank["order"].split()
        same(f"{where}: forwards before the first backward", order.index("B0") - order.index("F0"), job.in_flight(stage))
        for kind in "FB":
            same(f"{where}: order of {kind}", [o for o in order if o[0] == kind and o[1:].isdigit()],
                 [f"{kind}{i}" for i in range(job.m)])
        found, sent = Counter(), Counter()
        for t in said["transfers"]:
            if t["stage"] == stage:
                found[t["phase"], t["op"], t["axes"], t["bytes"]] += t["count"]
                if t["op"] in ("send", "receive"):
                    expected_sent = t["bytes"] if t["op"] == "send" else 0
                else:
                    expected_sent = job.ring(t["op"], t["bytes"], job.ranks_of[t["axes"]])
                same(f"{where}: sent for {t['op']} over {t['axes']}", t["sent"], expected_sent)
        expected = transfers(job, stage)
        for key in sorted(found.keys() | expected.keys()):
            same(f"{where}: count of {key}", found[key], expected[key])


jobs = {"gpt3-175b": Gpt3, "llama3-405b": Llama3}
with open(sys.argv[2]) as file:
    check(jobs[sys.argv[1]](), json.load(file))
print("\n".join(errors) or f"{sys.argv[1]}: all as by hand")
sys.exit(1 if errors else 0)
