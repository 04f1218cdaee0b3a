# One line an op of the microbatch's backward, those of accumulators left out: results = op operands, path, phase.
/accumulator\| read \|_acc = /d
s/^ *\(%.*\) : tensor.* in "\([^"]*\)" \(recompute\|backward\|weight_grad\) on .*/\3 \2: \1/p
