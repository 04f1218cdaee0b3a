// hocket ckpt: what a checkpoint holds, the same for another plan, and one file for other programs. Runs nothing.
#include "runtime/Checkpoint/Convert.h"
#include "runtime/Checkpoint/Layout.h"
#include "runtime/Launch/FlagRules.h"
#include "runtime/Program/Executable.h"
#include "tools/CommandLine.h"
#include "tools/hocket/CheckpointReport.h"
#include "tools/hocket/Commands.h"
#include "tools/hocket/Session.h"
#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
using namespace hocket;
using namespace hocket::tools;
using checkpoint::Found;

namespace {
struct CheckpointOptions {
  std::string folder, output, program, format = "text", type;
  bool verify = false;
};
} // namespace

static int complain(const std::string &text, Status status = InputAtFault) {
  fmt::print(stderr, "error: {}\n", text);
  return status;
}

static int complain(const runtime::Error &error) {
  return complain(error.message, error.kind == runtime::ErrorKind::Lacking ? MachineLacks : InputAtFault);
}

static void note(const std::string &text) { fmt::print(stderr, "note: {}\n", text); }

/// The newest whole checkpoint of a folder, or the one that the folder is; nothing after a report of all faults.
static std::optional<Found> newestWhole(const std::string &folder, bool content, int &status) {
  auto found = checkpoint::candidates(folder);
  if (!found) {
    status = complain(found.error());
    return {};
  }
  for (Found &candidate : *found) {
    std::vector<std::string> faults = content ? checkpoint::contentFaults(candidate, {}) : std::move(candidate.faults);
    for (const std::string &fault : faults)
      note("checkpoint " + fault);
    if (faults.empty())
      return std::move(candidate);
  }
  status = complain(fmt::format("'{}' holds no {}checkpoint", folder, found->empty() ? "" : "whole "));
  return {};
}

static int show(const CheckpointOptions &options) {
  auto found = checkpoint::candidates(options.folder);
  if (!found)
    return complain(found.error());
  if (found->empty())
    return complain(fmt::format("'{}' holds no checkpoint", options.folder));
  bool whole = true;
  for (Found &candidate : *found) {
    if (options.verify)
      candidate.faults = checkpoint::contentFaults(candidate, {});
    whole &= candidate.faults.empty();
  }
  if (options.format == "json")
    fmt::print("{}\n", checkpointsJson(*found));
  else
    fmt::print("{}", checkpointsText(*found, options.verify));
  for (const Found &candidate : *found)
    for (const std::string &fault : candidate.faults)
      complain(fault);
  return whole ? Done : InputAtFault;
}

static int reshard(const CheckpointOptions &options) {
  auto executable = program::readExecutable(options.program);
  if (!executable)
    return complain(executable.error());
  int status = Done;
  std::optional<Found> from = newestWhole(options.folder, /*content=*/true, status);
  if (!from)
    return status;
  checkpoint::Index layout = checkpoint::layoutOf(*executable->program);
  checkpoint::Match match = checkpoint::matchTensors(layout.tensors, from->index);
  for (const std::string &text : match.notes)
    note(text);
  for (const std::string &fault : match.faults)
    complain(fault);
  if (!match.faults.empty())
    return complain(fmt::format("'{}' does not fit '{}'", from->folder, options.program));
  if (auto done = checkpoint::reshard(*from, layout, match, options.output); !done)
    return complain(done.error());
  fmt::print("'{}' for {} files of plan {} in '{}'\n", from->folder, layout.files.size(), layout.plan,
             checkpoint::stepFolder(options.output, from->index.step));
  return Done;
}

/// An export makes a new file or replaces a regular one; never a device, a link, or a part of a checkpoint.
static bool mayWrite(const std::string &path) {
  std::error_code error;
  auto at = std::filesystem::symlink_status(path, error);
  if (std::filesystem::exists(at) && !std::filesystem::is_regular_file(at)) {
    complain(fmt::format("'{}' is no regular file; expected the name of a file to make or replace", path));
    return false;
  }
  if (checkpoint::liesInCheckpoint(path)) {
    complain(fmt::format("'{}' lies in a checkpoint, which it would damage", path));
    return false;
  }
  return true;
}

static int exportFile(const CheckpointOptions &options) {
  if (!mayWrite(options.output))
    return InputAtFault;
  int status = Done;
  std::optional<Found> from = newestWhole(options.folder, /*content=*/true, status);
  if (!from)
    return status;
  std::optional<program::DType> type;
  for (program::DType candidate : program::EnumValuesDType())
    if (!options.type.empty() && options.type == program::EnumNameDType(candidate))
      type = candidate;
  auto done = checkpoint::exportParameters(*from, type, options.output);
  if (!done)
    return complain(done.error());
  fmt::print("{} parameters ({} elements, {} bytes) of '{}' in '{}'\n", done->tensors, done->elements, done->bytes,
             from->folder, options.output);
  return Done;
}

Command hocket::tools::addCheckpoints(CLI::App &app, run::FlagRules &) {
  auto options = std::make_shared<CheckpointOptions>();
  auto *command = app.add_subcommand("ckpt", "shows, re-lays and exports checkpoints of hocket-run");
  command->require_subcommand(1);
  auto verb = [&](const char *name, const char *text) {
    auto *added = command->add_subcommand(name, text);
    added
        ->add_option("DIR", options->folder,
                     "folder of checkpoints, of which the newest whole one counts, or one of them")
        ->required()
        ->check(notEmpty());
    return added;
  };
  auto *shown = verb("show", "what checkpoints hold and what is wrong with them");
  shown->add_option("--format", options->format, "text or json (text)")->check(oneOf({"text", "json"}));
  shown->add_flag("--verify", options->verify, "compare contents with their checksums, which reads every file");
  auto *resharded = verb("reshard", "writes a checkpoint as the ranks of another plan would have");
  resharded->add_option("--program", options->program, "executable made by hocket compile")
      ->required()
      ->check(notEmpty());
  resharded->add_option("-o", options->output, "folder of checkpoints to add it to")->required()->check(notEmpty());
  auto *exported = verb("export", "writes all parameters to one safetensors file");
  exported->add_option("-o", options->output, "the file")->required()->check(notEmpty());
  exported->add_option("--type", options->type, "convert to F32, BF16, F16 or F64 (as they are)")
      ->check(oneOf({"F32", "BF16", "F16", "F64"}))
      ->transform([](std::string type) { return llvm::StringRef(type).upper(); }); // in either case; before the check
  return [options, shown, resharded] {
    return shown->parsed() ? show(*options) : resharded->parsed() ? reshard(*options) : exportFile(*options);
  };
}
