// The builder of kernels (Graph/Emit.h) as a CPU's kernels use it.
#pragma once
#include "passes/Codegen/CPU/CpuTarget.h"
#include "passes/Codegen/Graph/Graph.h"

namespace hocket::cpu {
using codegen::Emit;
using codegen::Graph;
using codegen::isNarrow;
using codegen::KernelShape;
using codegen::Output;
using codegen::Place;
using codegen::Reduction;
using codegen::Ref;
using codegen::RowAccess;
using codegen::scalarType;
using codegen::Space;
using codegen::Step;

/// Elements that are worked on at once, and partial sums of every reduction along a row: two AVX-512 registers.
constexpr int64_t lanes = 32;
/// A row reduction adds its lanes over blocks of this many elements and then the blocks, so that long sums stay
/// accurate.
constexpr int64_t reductionBlock = 8192;

inline codegen::Arithmetic arithmeticOf(const CpuTarget &target) { return {lanes, target.fma, target.halfConversion}; }
} // namespace hocket::cpu
