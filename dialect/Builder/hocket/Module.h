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

  /// A model: build(Scope, tokens, labels) returns its Loss. Tokens and labels are [batch, sequence] of i32.
  template <typename Build> Model model(Name name, Sequence sequence, Build build) {
    static_assert(std::is_invocable_r_v<Loss, Build &, Scope, Tensor, Tensor>,
                  "a model's function takes a Scope, tokens and labels, and returns a Loss");
    writeModel(name, sequence, [&](Scope scope, const std::vector<Tensor> &args) {
      Loss loss = build(scope, args[0], args[1]);
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
  void writeModel(const Name &name, Sequence sequence, const detail::Body &body);
  Model declareModel(const Name &name);
  detail::BlockInfo *declareBlock(const Name &name, std::vector<std::string> arguments);
  std::unique_ptr<detail::State> state;
};
} // namespace hocket
