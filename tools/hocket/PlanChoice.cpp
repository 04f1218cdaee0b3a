#include "tools/hocket/PlanChoice.h"
#include "llvm/ADT/StringExtras.h"
#include <fmt/format.h>
using namespace mlir;
using namespace hocket;
using namespace hocket::tools;

/// Names of all ops of one kind, for messages.
template <typename OpT> static std::string namesOf(ModuleOp module) {
  std::vector<std::string> names;
  for (auto op : module.getOps<OpT>())
    names.push_back(op.getSymName().str());
  return names.empty() ? "none" : llvm::join(names, ", ");
}

/// Adds the plan that the flags describe to the module.
static bool addPlanFromFlags(Session &session, const PlanFlags &flags) {
  auto models = llvm::to_vector(session.module().getOps<nn::ModelOp>());
  if (models.size() != 1) {
    Location place = models.empty() ? session.module().getLoc() : models.back().getLoc();
    emitError(place) << "the file has " << models.size() << " models (" << namesOf<nn::ModelOp>(session.module())
                     << "); a plan made from flags needs exactly one";
    return false;
  }
  auto [text, defaults] = planText(flags, models[0].getSymName().str());
  llvm::errs() << planFromFlags << (defaults.empty() ? "" : " (defaults taken: " + defaults + ")") << ":\n" << text;
  return session.add(text, planFromFlags);
}

/// The ops a plan names; missing ones were reported by the verifier.
static std::optional<PlanChoice> resolve(Session &session, dist::PlanOp plan) {
  SymbolTable symbols(session.module());
  PlanChoice choice{
      plan, symbols.lookup<dist::MeshOp>(plan.getMesh()), symbols.lookup<nn::ModelOp>(plan.getModel()), {}, {}};
  SmallVector<nn::RecipeOp> recipes;
  for (auto recipe : session.module().getOps<nn::RecipeOp>())
    if (recipe.getModel() == plan.getModel())
      recipes.push_back(recipe);
  if (!choice.mesh || !choice.model)
    return std::nullopt;
  if (recipes.size() != 1) {
    auto error = choice.model.emitError() << "model '" << choice.model.getSymName() << "' has " << recipes.size()
                                          << " recipes; exactly one is needed";
    for (nn::RecipeOp recipe : recipes)
      error.attachNote(recipe.getLoc()) << "recipe '" << recipe.getSymName() << "'";
    return std::nullopt;
  }
  choice.recipe = recipes[0];
  return choice;
}

std::vector<PlanChoice> hocket::tools::choosePlans(Session &session, const PlanFlags &flags, bool all) {
  std::vector<dist::PlanOp> plans;
  if (!flags.mesh.empty() && !addPlanFromFlags(session, flags))
    return {};
  StringRef wanted = flags.mesh.empty() ? StringRef(flags.plan) : StringRef("flags");
  std::vector<StringRef> known;
  for (auto plan : session.module().getOps<dist::PlanOp>()) {
    known.push_back(plan.getSymName());
    if ((all && wanted.empty()) || plan.getSymName() == wanted)
      plans.push_back(plan);
  }
  if (plans.empty() && wanted.empty()) {
    session.error(fmt::format("neither --plan nor --mesh is given; plans of the file: {}",
                              namesOf<dist::PlanOp>(session.module())));
  } else if (plans.empty()) {
    StringRef near = nn::nearestName(wanted, known);
    session.error(fmt::format("the file has no plan '{}' (its plans: {}){}", wanted.str(),
                              namesOf<dist::PlanOp>(session.module()),
                              near.empty() ? "" : fmt::format("; did you mean '{}'?", near.str())));
  }
  std::vector<PlanChoice> choices;
  for (dist::PlanOp plan : plans)
    if (auto choice = resolve(session, plan)) {
      choice->maxImplicitBytes = flags.maxImplicitBytes;
      choice->semantics = flags.semantics;
      choices.push_back(*choice);
    }
  return choices;
}
