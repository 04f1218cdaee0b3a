// Models, blocks and the scopes in them; the text that is written in the end.
#include "dialect/Builder/State.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_os_ostream.h"

namespace hocket {
using namespace detail;
using llvm::ArrayRef, llvm::SmallVector, llvm::StringRef;

/// Names of models, blocks, recipes, meshes and plans; what is at fault is still written, to go on looking.
static void checkName(State &state, StringRef what, const Name &name) {
  if (!nn::isName(name.text))
    state.fault(name.where) << what << " has the name '" << name.text
                            << "', expected letters, digits, '_' and '-' (and dots between them)";
}

// ---- functions ------------------------------------------------------------------------------------------------------
void detail::State::writeBody(Function &function, const Body &body, const std::vector<Tensor> &arguments) {
  struct Opened { // closes even if the user's function throws
    State &state;
    ~Opened() { state.open.pop_back(); }
  };
  std::vector<Tensor> returned;
  {
    open.push_back(&function);
    Opened opened{*this};
    returned = body(Access::scope(&function), arguments);
  }
  SmallVector<mlir::Value> values;
  for (const Tensor &tensor : returned) {
    if (!tensor.known())
      return;
    if (Access::home(tensor) != &function) {
      mlir::emitError(function.op->getLoc())
          << function.text() << " returns a tensor of " << Access::home(tensor)->text();
      return;
    }
    values.push_back(Access::value(tensor));
  }
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(function.body());
  nn::ReturnOp::create(builder, function.op->getLoc(), values);
  auto op = mlir::cast<mlir::FunctionOpInterface>(function.op);
  op.setType(builder.getFunctionType(op.getArgumentTypes(), mlir::TypeRange(mlir::ValueRange(values))));
  function.complete = true;
}

/// An empty model or block. Its results are not known before its body is.
template <typename OpT>
static Function &declare(State &state, mlir::OpBuilder builder, const Name &name, mlir::TypeRange inputs,
                         ArrayRef<StringRef> arguments) {
  mlir::Location loc = state.at(name.where);
  auto op = OpT::create(builder, loc, name.text, builder.getFunctionType(inputs, {}), mlir::ArrayAttr(),
                        mlir::ArrayAttr(), builder.getStrArrayAttr(arguments));
  mlir::Block &body = op.getBody().emplaceBlock();
  for (mlir::Type type : inputs)
    body.addArgument(type, loc);
  return state.functions.emplace_back(Function{&state, op});
}

static std::vector<Tensor> argumentsOf(Function &function) {
  std::vector<Tensor> arguments;
  for (mlir::Value argument : function.body()->getArguments())
    arguments.push_back(Access::tensor(&function, argument));
  return arguments;
}

void Module::writeModel(const Name &name, Sequence sequence, bool documents, const Body &body) {
  if (sequence.length < 1)
    state->fault(name.where) << "model @" << name.text << " has sequences of " << sequence.length
                             << " tokens, expected at least 1";
  checkName(*state, "a model", name);
  mlir::OpBuilder builder = state->atEnd();
  auto tokens = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic, std::max<int64_t>(sequence.length, 1)},
                                            builder.getI32Type());
  SmallVector<mlir::Type> types(documents ? 3 : 2, tokens);
  StringRef names[] = {"tokens", "next", "documents"};
  Function &model = declare<nn::ModelOp>(*state, builder, name, types, ArrayRef(names).take_front(types.size()));
  state->writeBody(model, body, argumentsOf(model));
}

// ---- blocks ---------------------------------------------------------------------------------------------------------
/// Writes a block with the shapes of its first call, before the function that calls it. An argument that is not known
/// stands for a tensor without dimensions, and leaves the block incomplete: its body's own faults are still told.
static void writeBlock(BlockInfo &block, Function &caller, const std::vector<Tensor> &args, const Body &body) {
  State &state = *block.state;
  mlir::OpBuilder builder(caller.op);
  SmallVector<mlir::Type> types;
  for (const Tensor &arg : args)
    types.push_back(arg.known() ? Access::value(arg).getType() : mlir::RankedTensorType::get({}, builder.getF32Type()));
  if (!block.arguments.empty() && block.arguments.size() != args.size())
    state.fault(block.name.where) << "block @" << block.name.text << " names " << block.arguments.size()
                                  << " arguments, and is called with " << args.size();
  std::vector<std::string> names = block.arguments;
  for (size_t i = names.size(); i < args.size(); ++i)
    names.push_back("x" + std::to_string(i));
  names.resize(args.size());
  Function &function =
      declare<nn::BlockOp>(state, builder, block.name, types, SmallVector<StringRef>(names.begin(), names.end()));
  block.written = &function;
  std::vector<Tensor> inside = argumentsOf(function);
  bool known = true;
  for (auto [tensor, arg] : llvm::zip(inside, args))
    if (!arg.known()) {
      tensor = Access::unknown(&function);
      known = false;
    }
  state.writeBody(function, body, inside);
  function.complete &= known;
}

/// Whether a call of `block` may be written, after its block was if this is its first call. Faults are told of `scope`.
static bool isCallable(Use &scope, BlockInfo &block, const std::vector<Tensor> &args, const Body &body) {
  State &state = *scope.home->state;
  if (block.state != &state)
    scope.fault() << "calls block @" << block.name.text << " of another module";
  else if (block.written && llvm::is_contained(state.open, block.written))
    scope.fault() << "makes block @" << block.name.text << " contain itself";
  if (!scope.sound())
    return false;
  if (!block.written)
    writeBlock(block, *scope.home, args, body);
  return block.written->complete;
}

std::vector<Tensor> Scope::place(const Name &name, const int64_t *count, BlockInfo *block,
                                 const std::vector<Tensor> &args, size_t results, const Body &body) {
  Use scope(name.where, home);
  std::vector<Tensor> made(results, scope.unknown());
  if (!scope.sound() || !isCallable(scope, *block, args, body))
    return made;
  if (!args.empty() && !Use(name.where, args).sound())
    return made;
  SmallVector<mlir::Value> values;
  for (const Tensor &arg : args)
    values.push_back(Access::value(arg));
  mlir::TypeRange types = mlir::cast<nn::BlockOp>(block->written->op).getResultTypes();
  std::string full = prefix + name.text;
  mlir::Operation *op = count ? nn::RepeatOp::create(scope.builder, scope.loc, types, block->name.text, values,
                                                     static_cast<uint64_t>(*count), full)
                                    .getOperation()
                              : nn::CallOp::create(scope.builder, scope.loc, types, block->name.text, values, full);
  for (auto [tensor, result] : llvm::zip(made, op->getResults()))
    tensor = scope.tensor(result);
  return made;
}

BlockInfo *Module::declareBlock(const Name &name, std::vector<std::string> arguments) {
  checkName(*state, "a block", name);
  return &state->blocks.emplace_back(BlockInfo{state.get(), name, std::move(arguments)});
}

// ---- scopes ---------------------------------------------------------------------------------------------------------
static nn::InitKind initKind(Init::Kind kind) {
  switch (kind) {
  case Init::Zeros:
    return nn::InitKind::Zeros;
  case Init::Ones:
    return nn::InitKind::Ones;
  case Init::Normal:
    return nn::InitKind::Normal;
  case Init::Constant:
    return nn::InitKind::Constant;
  }
  return nn::InitKind::Zeros;
}

Tensor Scope::param(Name name, const std::vector<int64_t> &shape, Init init) {
  Use use(name.where, home);
  std::string full = prefix + name.text;
  for (auto [index, size] : llvm::enumerate(shape))
    if (size < 1)
      use.fault() << "parameter '" << full << "' has the size " << size << " in dimension " << index
                  << ", expected at least 1";
  if (!use.sound())
    return use.unknown();
  mlir::OpBuilder &builder = use.builder;
  auto attr = nn::InitAttr::get(builder.getContext(), initKind(init.kind), builder.getF64FloatAttr(init.scale));
  mlir::Type type = mlir::RankedTensorType::get(shape, builder.getF32Type());
  return use.tensor(nn::ParamOp::create(builder, use.loc, type, full, attr));
}

Scope Scope::sub(std::string_view name) const {
  Scope inner = *this;
  inner.prefix += std::string(name) + ".";
  return inner;
}

void Scope::fault(std::string_view message, Where where) const { home->state->fault(where) << message; }

// ---- the module -----------------------------------------------------------------------------------------------------
Module::Module() : state(std::make_unique<State>()) {}
Module::~Module() = default;

Model Module::declareModel(const Name &name) { return Access::named<Model>(name.text); }

Mesh Module::mesh(Name name, const std::vector<MeshAxis> &axes) {
  checkName(*state, "a mesh", name);
  mlir::OpBuilder builder = state->atEnd();
  SmallVector<mlir::Attribute> attrs;
  for (const MeshAxis &axis : axes)
    attrs.push_back(dist::MeshAxisAttr::get(&state->context, axis.name, axis.size));
  dist::MeshOp::create(builder, state->at(name.where), name.text, builder.getArrayAttr(attrs));
  return Access::named<Mesh>(name.text);
}

Recipe Module::recipe(Name name, const Model &model) {
  checkName(*state, "a recipe", name);
  mlir::OpBuilder builder = state->atEnd();
  auto op = nn::RecipeOp::create(builder, state->at(name.where), name.text, Access::name(model));
  op.getBody().emplaceBlock();
  return Access::entries<Recipe>(state.get(), op);
}

Plan Module::plan(Name name, const Model &model, const Mesh &mesh) {
  checkName(*state, "a plan", name);
  mlir::OpBuilder builder = state->atEnd();
  auto op = dist::PlanOp::create(builder, state->at(name.where), name.text, Access::name(model), Access::name(mesh));
  op.getBody().emplaceBlock();
  return Access::entries<Plan>(state.get(), op);
}

void Module::fault(std::string_view message, Where where) { state->fault(where) << message; }
std::vector<Fault> Module::faults() { return state->check(); }

bool Module::write(std::ostream &out) {
  if (!faults().empty())
    return false;
  llvm::raw_os_ostream stream(out);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(/*enable=*/true, /*prettyForm=*/false);
  state->module->print(stream, flags);
  stream << "\n";
  return true;
}

void Module::printFaults(std::ostream &out) {
  std::vector<Fault> all = faults();
  llvm::raw_os_ostream stream(out);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler printer(sources, &state->context, stream);
  auto say = [&](const Fault &fault, mlir::DiagnosticSeverity severity) {
    mlir::Location loc = fault.file.empty()
                             ? mlir::Location(mlir::UnknownLoc::get(&state->context))
                             : mlir::FileLineColLoc::get(&state->context, fault.file, fault.line, fault.column);
    printer.emitDiagnostic(loc, fault.text, severity);
  };
  for (const Fault &fault : all) {
    say(fault, mlir::DiagnosticSeverity::Error);
    for (const Fault &note : fault.notes)
      say(note, mlir::DiagnosticSeverity::Note);
  }
}
} // namespace hocket
