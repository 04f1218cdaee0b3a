// See ActivationMemory.h.
#include "passes/Analysis/ActivationMemory.h"
#include <numeric>
using namespace hocket::analysis;
using Kind = ActivationTerm::Kind;

std::vector<ActivationTerm> hocket::analysis::activationTerms(const LayerSizes &layer, Recomputed recomputed) {
  int64_t whole = layer.sequence * layer.sequences * layer.hidden, split = whole / layer.tensor;
  int64_t repeated = layer.sequenceParallel ? split : whole; // outside of the tensor-parallel part
  int64_t scores = layer.heads * layer.sequence * layer.sequence * layer.sequences / layer.tensor;
  if (recomputed == Recomputed::Full)
    return {{"input of the layer", Kind::Value, whole, 2}};
  std::vector<ActivationTerm> terms = {
      {"input of the first norm", Kind::Value, repeated, 2},
      {"input of q, k and v", Kind::Value, repeated, 2},
      {"q", Kind::Value, split, 2},
      {"k", Kind::Value, split, 2},
      {"v", Kind::Value, split, 2},
      {"probabilities", Kind::Scores, scores, 2},
      {"mask of the probabilities' dropout", Kind::Mask, scores, 1},
      {"probabilities after dropout", Kind::Scores, scores, 2},
      {"input of attention's projection", Kind::Value, split, 2},
      {"mask of attention's dropout", Kind::Mask, repeated, 1},
      {"input of the second norm", Kind::Value, repeated, 2},
      {"input of the first feed-forward product", Kind::Value, repeated, 2},
      {"input of the activation function", Kind::Value, 4 * split, 2},
      {"input of the second feed-forward product", Kind::Value, 4 * split, 2},
      {"mask of the feed-forward's dropout", Kind::Mask, repeated, 1},
  };
  if (recomputed == Recomputed::Selective)
    terms.erase(terms.begin() + 5, terms.begin() + 8); // the three that are quadratic in the sequence
  return terms;
}

int64_t hocket::analysis::layerActivationBytes(const LayerSizes &layer, Recomputed recomputed) {
  auto terms = activationTerms(layer, recomputed);
  return std::accumulate(terms.begin(), terms.end(), int64_t(0),
                         [](int64_t sum, const ActivationTerm &term) { return sum + term.bytes(); });
}

double hocket::analysis::stageActivationBytes(const LayerSizes &layer, Recomputed recomputed,
                                              const PipelineSizes &pipeline) {
  double p = double(pipeline.stages), v = double(pipeline.chunks);
  double more = pipeline.chunks > 1 ? 1 + (p - 1) / (p * v) : 1;
  return double(layerActivationBytes(layer, recomputed)) * double(pipeline.layers) * more;
}

double hocket::analysis::edgeActivationBytes(const LayerSizes &layer, int64_t vocabulary,
                                             const PipelineSizes &pipeline) {
  double split = double(layer.sequence * layer.sequences * layer.hidden) / double(layer.tensor);
  double head = pipeline.stages == 1 ? 4 * (1 + double(vocabulary) / double(layer.hidden)) : 0;
  return split * (double(pipeline.stages) + head);
}
