// The plan and its tactics: what each may say by itself, and which may not stand together.
#include "dialect/Dist/AxesSyntax.h"
#include "llvm/ADT/StringExtras.h"
using namespace mlir;
using namespace hocket::dist;
namespace nn = hocket::nn;

static StringRef tacticName(Operation *tactic) { return tactic->getName().stripDialect(); }

static AxesAttr axesOf(Operation *tactic) {
  return llvm::TypeSwitch<Operation *, AxesAttr>(tactic)
      .Case<BatchOp>([](auto op) { return op.getAxesAttr(); })
      .Case<SplitOp, StagesOp, ZeroOp, SequenceOp, ContextOp, ExpertsOp>([](auto op) { return op.getAxesAttr(); })
      .Default([](Operation *) { return AxesAttr(); });
}

LogicalResult BatchOp::verify() {
  int64_t sequences = getMicrobatchAttr().getInt();
  if (sequences < 1)
    return emitOpError() << "takes " << sequences << " sequences a microbatch; at least 1 is needed";
  if (sequences > 1 << 30)
    return emitOpError() << "takes " << sequences << " sequences a microbatch; at most " << (1 << 30)
                         << " are possible";
  return success();
}

LogicalResult SplitOp::verify() {
  if (getForm()) {
    if (*getForm() != "megatron" && *getForm() != "auto")
      return emitOpError() << "has an unknown form '" << *getForm()
                           << "'; known: auto, megatron, or a parameter's name in quotes with `dim`";
    return success();
  }
  if (getPattern().value_or("").empty())
    return emitOpError() << "names no parameter";
  if (int64_t dim = getDimAttr() ? getDimAttr().getInt() : -1; dim < 0)
    return emitOpError() << "has dimension " << dim << "; dimensions count from 0";
  return success();
}

LogicalResult ExpertsOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "names no axes to split the experts over";
  return success();
}

LogicalResult StagesOp::verify() {
  bool sound = true;
  if (getAxes().empty())
    sound = false, emitOpError() << "needs an axis to lay the stages along";
  else if (getAxes().getRefs().size() > 1 || !getAxes().getRefs().front().isWholeAxis())
    sound = false,
    emitOpError() << "lays stages along " << axesText(getAxes().getRefs()) << "; expected one whole axis of the mesh";
  if (getSchedule().empty())
    sound = false, emitOpError() << "names no schedule";
  if (getSchedule() == "file" && getTable().value_or("").empty())
    sound = false, emitOpError() << "names no table; schedule file(\"table.txt\") does";
  if (getSchedule() != "file" && getTable())
    sound = false,
    emitOpError() << "gives schedule '" << getSchedule() << "' a table; only schedule file(\"table.txt\") has one";
  if (int64_t chunks = getChunksAttr() ? getChunksAttr().getInt() : 1; chunks < 1)
    sound = false, emitOpError() << "has " << chunks << " chunks; at least 1 is needed";
  else if (chunks > 1024)
    sound = false, emitOpError() << "has " << chunks << " chunks; at most 1024 are possible";
  if (getBalanced() && getCuts())
    sound = false, emitOpError() << "is balanced and has cuts; one of both says where stages end";
  for (auto [stage, layers] : llvm::enumerate(getCuts().value_or(ArrayRef<int64_t>())))
    if (layers < 1)
      sound = false, emitOpError() << "cuts " << layers << " layers for piece " << stage << "; at least 1 is needed";
    else if (layers > INT32_MAX)
      sound = false, emitOpError() << "cuts " << layers << " layers for piece " << stage << "; at most " << INT32_MAX
                                   << " are possible";
  return success(sound);
}

LogicalResult ZeroOp::verify() {
  int64_t stage = getStageAttr().getInt();
  bool sound = true;
  if (stage < 0 || stage > 3)
    sound = false, emitOpError() << "has stage " << stage << "; stages 0 to 3 are known";
  else if (getGather() && stage != 3)
    sound = false, emitOpError() << "says when parameters are gathered, but stage " << stage
                                 << " keeps them whole; only stage 3 splits them";
  if (getAxes().empty())
    sound = false, emitOpError() << "needs an axis to split over";
  if (getBucketAttr() && getBucketAttr().getInt() < 1)
    sound = false, emitOpError() << "has a bucket of " << getBucketAttr().getInt() << " bytes; at least 1 is needed";
  return success(sound);
}

LogicalResult RecomputeOp::verify() {
  if (getPattern() && getPattern()->empty())
    return emitOpError() << "names no layer; without a name all layers are meant";
  return success();
}

LogicalResult OffloadOp::verify() {
  if (getPattern() && getPattern()->empty())
    return emitOpError() << "names no " << (getWhat() == Offload::Activations ? "layer" : "parameter")
                         << "; without a name all are meant";
  return success();
}

static LogicalResult needsAxis(Operation *tactic, AxesAttr axes) {
  if (!axes.empty())
    return success();
  return tactic->emitOpError() << "needs an axis to split the sequence over";
}
LogicalResult SequenceOp::verify() { return needsAxis(*this, getAxes()); }
LogicalResult ContextOp::verify() { return needsAxis(*this, getAxes()); }

//===- what tactics are to one another
//----------------------------------------------------------------------------------

static std::string meshAxesText(MeshOp mesh) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(mesh.getAxes().getAsRange<MeshAxisAttr>(), os,
                        [&](MeshAxisAttr axis) { os << '"' << axis.getName() << "\"=" << axis.getSize(); });
  return text.empty() ? "it has none" : text;
}

/// Sizes that sub-axes of an axis of `whole` devices may have: 2, 4 of 4.
static std::string subAxisSizes(int64_t whole) {
  SmallVector<int64_t> sizes{whole};
  for (int64_t size = 2; size * size <= whole; ++size)
    if (whole % size == 0) {
      sizes.push_back(size);
      if (size != whole / size)
        sizes.push_back(whole / size);
    }
  llvm::sort(sizes);
  return llvm::join(llvm::map_range(sizes, [](int64_t size) { return std::to_string(size); }), ", ");
}

/// Axes that the mesh does not have, and sub-axes that do not divide theirs or are of one device.
static bool checkAxes(Operation *tactic, AxesAttr axes, MeshOp mesh) {
  bool sound = true;
  for (const AxisRef &ref : axes.getRefs()) {
    int64_t whole = mesh.getAxisSize(ref.name);
    if (whole == 0) {
      SmallVector<StringRef> known;
      for (auto axis : mesh.getAxes().getAsRange<MeshAxisAttr>())
        known.push_back(axis.getName());
      StringRef nearest = nn::nearestName(ref.name, known);
      InFlightDiagnostic diag = tactic->emitOpError()
                                << "names axis \"" << ref.name.getValue() << "\", which mesh @" << mesh.getSymName()
                                << " does not have; axes: " << meshAxesText(mesh);
      if (!nearest.empty())
        diag << "; did you mean \"" << nearest << "\"?";
      diag.attachNote(mesh.getLoc()) << "mesh declared here";
      sound = false;
    } else if (!ref.isWholeAxis() && whole % (ref.pre * ref.size) != 0) {
      InFlightDiagnostic diag = tactic->emitOpError()
                                << "names sub-axis " << axesText(ref) << " of an axis of " << whole << " devices; "
                                << ref.pre << " * " << ref.size << " does not divide " << whole;
      diag.attachNote(mesh.getLoc()) << "mesh declared here";
      sound = false;
    } else if (ref.size == 1 && !ref.isWholeAxis() && whole > 1) {
      InFlightDiagnostic diag = tactic->emitOpError()
                                << "names sub-axis " << axesText(ref) << " of 1 device of an axis of " << whole
                                << " devices; legal sizes: " << subAxisSizes(whole);
      diag.attachNote(mesh.getLoc()) << "mesh declared here";
      sound = false;
    }
  }
  return sound;
}

/// Two tactics that cannot use one axis: stages share theirs with nobody, batch and split not with each other, context
/// with ZeRO only, sequence with the splits of parameters only; experts may use any but those of stages.
static bool contradict(Operation *a, Operation *b) {
  bool stages = isa<StagesOp>(a) || isa<StagesOp>(b);
  if (isa<ExpertsOp>(a) || isa<ExpertsOp>(b))
    return stages;
  if (isa<ContextOp>(a) || isa<ContextOp>(b))
    return !isa<ZeroOp>(a) && !isa<ZeroOp>(b);
  if (isa<SequenceOp>(a) || isa<SequenceOp>(b))
    return !isa<SplitOp>(a) && !isa<SplitOp>(b);
  bool batchAndSplit = (isa<BatchOp>(a) && isa<SplitOp>(b)) || (isa<SplitOp>(a) && isa<BatchOp>(b));
  bool splitAndZero = (isa<SplitOp>(a) && isa<ZeroOp>(b)) || (isa<ZeroOp>(a) && isa<SplitOp>(b));
  return stages || batchAndSplit || splitAndZero;
}

/// Two splits of one form, or of one name and dimension, over axes that share devices: the later says nothing new.
static bool repeats(SplitOp a, SplitOp b) {
  if (a.getFormAttr() != b.getFormAttr() || a.getPatternAttr() != b.getPatternAttr() ||
      a.getDimAttr() != b.getDimAttr())
    return false;
  return llvm::any_of(a.getAxes().getRefs(), [&](const AxisRef &ref) {
    return llvm::any_of(b.getAxes().getRefs(), [&](const AxisRef &other) { return overlap(ref, other); });
  });
}
static std::string splitText(SplitOp split) {
  std::string what = split.getForm() ? split.getForm()->str()
                                     : ("\"" + *split.getPattern() + "\" dim " + Twine(*split.getDim())).str();
  return "`split " + what + " over " + axesText(split.getAxes().getRefs()) + (split.getUneven() ? " uneven`" : "`");
}

static bool checkPair(Operation *earlier, Operation *later) {
  if (auto a = dyn_cast<SplitOp>(earlier), b = dyn_cast<SplitOp>(later); a && b && repeats(a, b)) {
    InFlightDiagnostic diag = b.emitOpError() << "repeats a split of this plan, as " << splitText(b)
                                              << "; once over an axis is allowed";
    diag.attachNote(a.getLoc()) << "first here, as " << splitText(a);
    return false;
  }
  bool several = isa<RecomputeOp, OffloadOp, OverlapOp>(later); // of different kinds or layers
  if (several && earlier->getName() == later->getName() &&
      earlier->getPropertiesAsAttribute() == later->getPropertiesAsAttribute()) {
    InFlightDiagnostic diag = later->emitOpError() << "repeats a tactic of this plan word for word; once is allowed";
    diag.attachNote(earlier->getLoc()) << "first here";
    return false;
  }
  if (earlier->getName() == later->getName() && !isa<SplitOp>(later) && !several) {
    InFlightDiagnostic diag = later->emitOpError() << "stands twice in a plan; once is allowed";
    diag.attachNote(earlier->getLoc()) << "first here";
    return false;
  }
  if (!contradict(earlier, later) || !axesOf(earlier) || !axesOf(later))
    return true;
  for (const AxisRef &ref : axesOf(later).getRefs())
    for (const AxisRef &other : axesOf(earlier).getRefs())
      if (overlap(ref, other)) {
        InFlightDiagnostic diag = later->emitOpError() << "uses axis \"" << ref.name.getValue() << "\", which `"
                                                       << tacticName(earlier) << "` uses already in another way";
        diag.attachNote(earlier->getLoc()) << "used by this tactic";
        return false;
      }
  return true;
}

/// ZeRO splits what data-parallel ranks hold alike, so its axes are among those that split the batch or, by `context`,
/// its sequences.
static bool checkZeroAxes(PlanOp plan, MeshOp mesh) {
  auto zero = plan.tactic<ZeroOp>();
  if (!zero)
    return true;
  auto batch = plan.tactic<BatchOp>();
  AxesAttr data = batch ? batch.getAxesAttr() : AxesAttr();
  auto context = plan.tactic<ContextOp>();
  bool sound = true;
  for (const AxisRef &ref : zero.getAxes().getRefs()) {
    if ((data && llvm::is_contained(data.getRefs(), ref)) ||
        (context && llvm::is_contained(context.getAxes().getRefs(), ref)) || (mesh && mesh.getAxisSize(ref.name) == 0))
      continue;
    bool elsewhere = llvm::any_of(plan.getBody().front(), [&](Operation &op) {
      return contradict(zero, &op) && axesOf(&op) &&
             llvm::any_of(axesOf(&op).getRefs(), [&](const AxisRef &other) { return overlap(ref, other); });
    });
    if (elsewhere) // said already, with both tactics
      continue;
    InFlightDiagnostic diag = zero.emitOpError() << "splits over " << axesText(ref)
                                                 << ", which does not split the batch; the batch is split over "
                                                 << axesText(data ? data.getRefs() : ArrayRef<AxisRef>());
    if (batch)
      diag.attachNote(batch.getLoc()) << "batch split here";
    sound = false;
  }
  return sound;
}

LogicalResult PlanOp::verifySymbolUses(SymbolTableCollection &symbols) {
  bool sound = true;
  auto mesh = symbols.lookupNearestSymbolFrom<MeshOp>(*this, getMeshAttr());
  if (!mesh)
    sound = false, emitOpError() << "names mesh @" << getMesh() << ", which is not declared";
  if (!symbols.lookupNearestSymbolFrom<nn::ModelOp>(*this, getModelAttr()))
    sound = false, emitOpError() << "names model @" << getModel() << ", which is not declared";
  for (Operation &tactic : getBody().front()) {
    if (!isa<BatchOp, SplitOp, StagesOp, ZeroOp, SequenceOp, ContextOp, ExpertsOp, RecomputeOp, OffloadOp, OverlapOp>(
            tactic)) {
      sound = false, tactic.emitOpError() << "is no tactic; a plan holds batch, split, stages, zero, sequence, "
                                             "context, experts, recompute, offload and overlap";
      continue;
    }
    if (AxesAttr axes = axesOf(&tactic); axes && mesh)
      sound &= checkAxes(&tactic, axes, mesh);
    for (Operation &earlier : getBody().front()) {
      if (&earlier == &tactic)
        break;
      sound &= checkPair(&earlier, &tactic);
    }
  }
  sound &= checkZeroAxes(*this, mesh);
  return success(sound);
}
