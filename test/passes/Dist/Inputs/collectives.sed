# One line a collective of a local program: op, axes, result, phase, cause.
s/.*dist\.\([a-z_]*\) \([a-z]* \)*%.* over \([^ ]*\( "[a-z]*"}\)*\) because "\([^"]*\)" : .* -> \(tensor<[^>]*>\) in "[^"]*" \([a-z_]* \)*on.*/\1 \3 \6 \7: \5/p
