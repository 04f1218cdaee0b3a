// A model file in the making: models, blocks, recipes, meshes and plans.
#pragma once
#include "hocket/Plan.h"
#include "hocket/Recipe.h"
#include "hocket/Scope.h"
#include <iosfwd>
#include <memory>

namespace hocket {
/// The length of all sequences of a model, in tokens.
struct Sequence {
  int64_t length;
};
inline Sequence sequence(int64_t length) { return {length}; }

/// Made by Module::model.
class Model {
private:
  friend struct detail::Access;
  explicit Model(std::string name) : name(std::move(name)) {}
  std::string name;
};

/// What is wrong, and where: "gpt.cpp", 12, 8. Notes are the other parties.
struct Fault {
  std::string file;
  unsigned line = 0, column = 0;
  std::string text;
  std::vector<Fault> notes;
};

/// Writes nn and dist IR as it is told, and nothing else. Mistakes are collected, with the user's line, until `write`.
class Module {
public:
  Module();
  ~Module();
  Module(const Module &) = delete;
  Module &operator=(const Module &) = delete;

  /// A model: build(Scope, tokens, labels) or build(Scope, tokens, labels, documents) returns its Loss. All are [batch,
  /// sequence] of i32; documents number each token's document within its sequence.
  template <typename Build> Model model(Name name, Sequence sequence, Build build) {
    constexpr bool documents = std::is_invocable_r_v<Loss, Build &, Scope, Tensor, Tensor, Tensor>;
    static_assert(documents || std::is_invocable_r_v<Loss, Build &, Scope, Tensor, Tensor>,
                  "a model's function takes a Scope, tokens, labels and perhaps documents, and returns a Loss");
    auto call = [&](Scope scope, const std::vector<Tensor> &args) {
      if constexpr (documents)
        return build(scope, args[0], args[1], args[2]);
      else
        return build(scope, args[0], args[1]);
    };
    writeModel(name, sequence, documents, [&](Scope scope, const std::vector<Tensor> &args) {
      Loss loss = call(scope, args);
      return std::vector<Tensor>{loss.sum, loss.count};
    });
    return declareModel(name);
  }
  /// A block: write(Scope, Tensor…) returns a Tensor or a std::array of them. It is called by Scope::call and
  /// Scope::repeat; one that never is has no shapes, and is a fault. `arguments` are their names in the text.
  template <typename Fn> Block<Fn> block(Name name, Fn write) { return block(std::move(name), {}, std::move(write)); }
  template <typename Fn> Block<Fn> block(Name name, std::vector<std::string> arguments, Fn write) {
    return {declareBlock(name, std::move(arguments)), std::move(write)};
  }
  Recipe recipe(Name name, const Model &model);
  Mesh mesh(Name name, const std::vector<MeshAxis> &axes);
  Plan plan(Name name, const Model &model, const Mesh &mesh);

  /// What is wrong in the user's own view, said of this line.
  void fault(std::string_view message, Where where = Where::current());
  /// Every fault found, in the order of lines.
  std::vector<Fault> faults();
  /// The text of the model with the user's lines as locations; false, and nothing written, if there are faults.
  bool write(std::ostream &out);
  /// Every fault with its source line, where that can be read.
  void printFaults(std::ostream &out);

private:
  friend struct detail::Access;
  void writeModel(const Name &name, Sequence sequence, bool documents, const detail::Body &body);
  Model declareModel(const Name &name);
  detail::BlockInfo *declareBlock(const Name &name, std::vector<std::string> arguments);
  std::unique_ptr<detail::State> state;
};
} // namespace hocket
