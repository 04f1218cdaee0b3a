"""Bytes, FLOPs and least times of kernels of examples/tiny under plan single, counted by hand from its sizes.

kernels_by_hand.py FILE: FILE is `hocket explain --kernels --gpu h100 --format=json` of it. A kernel moves each operand and
each result once; of a table it reads the rows that are taken, of the keys a query only those it sees.
"""
import json
import sys

WORD = 4  # f32, and i32
SEQUENCES, TOKENS, HIDDEN, HEADS, HEAD, INNER, WORDS, LAYERS = 2, 8, 128, 4, 32, 512, 256, 2
rows = SEQUENCES * TOKENS
layer = 4 * HIDDEN + HIDDEN * 3 * HIDDEN + HIDDEN * HIDDEN + 2 * HIDDEN * INNER  # norms, qkv, proj, the two of the MLP
parameters = WORDS * HIDDEN + TOKENS * HIDDEN + LAYERS * layer
seen = TOKENS * (TOKENS + 1) // 2  # pairs of a query and a key not behind it

expected = {
    # an accumulator for each parameter, a second one for the tied head, the loss
    "k_zeros_of_20": (WORD * (parameters + WORDS * HIDDEN + 1), 0),
    # ids, the rows they name, the result
    "k_embedding_16x128": (WORD * (rows + 2 * rows * HIDDEN), rows * HIDDEN),
    # positions, the whole table of 8 rows, the other summand, gain and bias, the sum and its norm
    "k_embedding_add_layer_norm_16x128": (WORD * (rows + TOKENS * HIDDEN + rows * HIDDEN + 2 * HIDDEN + 2 * rows * HIDDEN), None),
    # logits and labels, the log-sum-exp and what stands at the label; the logits are read once for all of it
    "k_row_max_row_sum_exp_log_sum_exp_pick_16x256": (WORD * (rows * WORDS + rows + 2 * rows), None),
    # queries, keys, values, result; log-sum-exps; positions. A pair costs a multiply-add an element, twice
    "k_attention_2x8x4x32": (WORD * (4 * rows * HIDDEN + rows * HEADS + rows), 2 * 2 * HEAD * seen * HEADS * SEQUENCES),
    # parameter, gradient and two moments read, three of them written; rate, clip (f32) and step (i64)
    "k_adamw_of_18": (7 * WORD * parameters + 2 * WORD + 8, None),
    "f32 16 x 384 x 128": (WORD * (rows * HIDDEN + HIDDEN * 3 * HIDDEN + rows * 3 * HIDDEN), 2 * rows * HIDDEN * 3 * HIDDEN),
}
told = json.load(open(sys.argv[1]))
work = {}
for each in told["kernels"]:
    work[each["name"].rsplit("_", 1)[0]] = each
for each in told["products"]:
    work[each["name"]] = each
faults = []
for name, (size, flops) in expected.items():
    found = work.get(name)
    if found is None:
        faults.append(f"there is no {name}")
        continue
    flops = found["flops"] if flops is None else flops
    least = max(size / 3.35e12, flops / 67e12) * 1e6
    if (found["bytes"], found["flops"]) != (size, flops) or abs(found["floor_us"] - least) > 1e-9 * least:
        faults.append(
            f"{name}: {found['bytes']} bytes, {found['flops']} FLOPs, {found['floor_us']} us; by hand {size}, {flops}, {least}"
        )
if faults:
    sys.exit("\n".join(faults))
print(f"{len(expected)} kernels and products, all as by hand")
