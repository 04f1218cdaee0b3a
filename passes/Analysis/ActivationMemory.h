// Activation memory of a GPT in closed form: Korthikanti et al., "Reducing Activation Recomputation in Large
// Transformer Models", arXiv 2205.05198, sections 4 and 5, equations 1 to 6 and table 2. Bytes of one rank; activations
// are 16-bit, dropout masks one byte an element, as in the paper. What plans keep is held against it.
#pragma once
#include <cstdint>
#include <vector>

namespace hocket::analysis {

/// s, b, h, a, t: tokens of a sequence, sequences of a microbatch, hidden size, heads, tensor-parallel ranks.
struct LayerSizes {
  int64_t sequence, sequences, hidden, heads, tensor = 1;
  bool sequenceParallel = false; ///< what tensor parallelism repeats is split along the sequence
};
enum class Recomputed { None, Selective, Full };

/// What one layer keeps from its forward to its backward, one summand of the paper.
struct ActivationTerm {
  enum class Kind {
    Value,  ///< the operand of an operation whose derivative reads it
    Mask,   ///< of a dropout
    Scores, ///< of attention, quadratic in the sequence: probabilities and what dropout makes of them
  };
  const char *name;
  Kind kind;
  int64_t elements;
  int64_t elementBytes; ///< 2, of a mask 1
  int64_t bytes() const { return elements * elementBytes; }
};
/// The summands of a layer in the order of its forward. Nothing recomputed: s b h (10 + 24/t + 5 a s / (h t)) (equation
/// 2), with the sequence split s b h / t (34 + 5 a s / h) (equation 4). Selective: without scores and their mask
/// (equation 6). Full: the layer's input alone, 2 s b h, which the paper never splits.
std::vector<ActivationTerm> activationTerms(const LayerSizes &layer, Recomputed recomputed);
int64_t layerActivationBytes(const LayerSizes &layer, Recomputed recomputed);

/// L, p, v: layers, stages, chunks a stage.
struct PipelineSizes {
  int64_t layers, stages = 1, chunks = 1;
};
/// Activations of the first stage, which keeps most, with at least p microbatches: 1F1B keeps p of L/p layers, so L
/// layers in all; interleaved L (1 + (p-1)/(p v)) (section 4.2.3). A whole number of layers a chunk.
double stageActivationBytes(const LayerSizes &layer, Recomputed recomputed, const PipelineSizes &pipeline);
/// What embedding and, on one stage alone, head and loss add there (section 4.3): s b h / t (p + [p = 1] 4 (1 + V/h)),
/// sequence parallel.
double edgeActivationBytes(const LayerSizes &layer, int64_t vocabulary, const PipelineSizes &pipeline);
} // namespace hocket::analysis
