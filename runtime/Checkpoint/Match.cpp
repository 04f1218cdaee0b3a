// Checkpoint against program; contracts in Match.h.
#include "runtime/Checkpoint/Match.h"
#include "runtime/Checkpoint/CopyBox.h"
#include <fmt/format.h>

namespace hocket::checkpoint {

using program::StateKind;

namespace {
class Matcher {
public:
  Matcher(const Index &from, Match &match) : from(from), match(match) {
    for (uint32_t i = 0; i < from.tensors.size(); ++i)
      stored.emplace(std::pair(from.tensors[i].kind, from.tensors[i].name), i);
  }
  void match1(const Tensor &tensor);
  void leftOver();
  void summarise();

private:
  std::optional<uint32_t> find(StateKind kind, const std::string &name) const {
    auto found = stored.find({kind, name});
    return found == stored.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<uint32_t> sourceOf(const Tensor &tensor) const;

  const Index &from;
  Match &match;
  std::map<std::pair<StateKind, std::string>, uint32_t> stored;
  std::map<std::string, size_t> counts; // of tensors to which the same sentence applies
};
} // namespace

std::optional<uint32_t> Matcher::sourceOf(const Tensor &tensor) const {
  std::optional<uint32_t> same = find(tensor.kind, tensor.name);
  if (tensor.kind == StateKind::Parameter && same && from.tensors[*same].type != tensor.type)
    if (std::optional<uint32_t> master = find(StateKind::Master, tensor.name))
      return master;
  if (tensor.kind == StateKind::Master && !same)
    return find(StateKind::Parameter, tensor.name);
  return same;
}

void Matcher::match1(const Tensor &tensor) {
  std::optional<uint32_t> source = sourceOf(tensor);
  if (!source && tensor.kind == StateKind::Scalar) {
    match.notes.push_back(fmt::format("scalar '{}' is not in the checkpoint and starts from {}", tensor.name,
                                      tensor.name == updatesName ? "the number of steps" : "its initial value"));
    match.sources[{tensor.kind, tensor.name}] = {};
    return;
  }
  if (!source) {
    match.faults.push_back(fmt::format("{} is not in the checkpoint", tensor.text()));
    return;
  }
  const Tensor &found = from.tensors[*source];
  if (found.shape != tensor.shape)
    match.faults.push_back(fmt::format("{} '{}' is {} here, {} in the checkpoint", kindName(tensor.kind), tensor.name,
                                       shapeText(tensor.shape), shapeText(found.shape)));
  else if (!convertible(found.type, tensor.type))
    match.faults.push_back(fmt::format("{} '{}' is {} here, {} in the checkpoint", kindName(tensor.kind), tensor.name,
                                       EnumNameDType(tensor.type), EnumNameDType(found.type)));
  if (found.kind != tensor.kind || found.type != tensor.type)
    ++counts[fmt::format("{} of type {} from the checkpoint's {} of type {}", kindName(tensor.kind),
                         EnumNameDType(tensor.type), kindName(found.kind), EnumNameDType(found.type))];
  match.sources[{tensor.kind, tensor.name}] = source;
}

void Matcher::leftOver() {
  for (const Tensor &tensor : from.tensors) {
    if (match.sources.count({tensor.kind, tensor.name}))
      continue;
    if (tensor.kind == StateKind::Parameter)
      match.faults.push_back(fmt::format("{} of the checkpoint is not in the program", tensor.text()));
    else
      ++counts[fmt::format("{} of the checkpoint left out, for which the program has no place", kindName(tensor.kind))];
  }
}

void Matcher::summarise() {
  for (const auto &[sentence, count] : counts)
    match.notes.push_back(fmt::format("{} x {}", count, sentence));
}

Match matchTensors(const std::vector<Tensor> &tensors, const Index &from) {
  Match result;
  Matcher matcher(from, result);
  for (const Tensor &tensor : tensors) {
    result.sources.emplace(std::pair(tensor.kind, tensor.name), std::nullopt); // known here, even if at fault
    matcher.match1(tensor);
  }
  matcher.leftOver();
  matcher.summarise();
  return result;
}

void matchRun(const Index &program, const Index &from, Match &match) {
  if (program.sequence != from.sequence)
    match.faults.push_back(fmt::format("the program's sequence is {} tokens, the checkpoint's was {}: its data cursor "
                                       "cannot go on",
                                       program.sequence, from.sequence));
  if (program.model != from.model)
    match.notes.push_back(
        fmt::format("the program is of model '{}', the checkpoint of model '{}'", program.model, from.model));
  if (program.recipe != from.recipe)
    match.notes.push_back(fmt::format("the recipe is now\n{}\nit was\n{}", program.recipe, from.recipe));
}

} // namespace hocket::checkpoint
