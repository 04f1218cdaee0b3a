// Products of bf16 by oneDNN's matmul primitive. Making one takes a millisecond, so each thread keeps those it has
// made, by shape; a program has a few dozen shapes.
#include "runtime/Device/Cpu/ProductMemory.h"
#include "runtime/Device/Cpu/Products.h"
#include <map>
#include <memory>
#include <oneapi/dnnl/dnnl.h>
#include <tuple>

namespace hocket::runtime {
namespace {

template <class T, dnnl_status_t (*destroy)(T *)> struct Destroy {
  void operator()(T *object) const { destroy(object); }
};
template <class T, dnnl_status_t (*destroy)(T *)> using Owned = std::unique_ptr<T, Destroy<T, destroy>>;
using Engine = Owned<dnnl_engine, dnnl_engine_destroy>;
using Queue = Owned<dnnl_stream, dnnl_stream_destroy>;
using Memory = Owned<dnnl_memory, dnnl_memory_destroy>;
using Primitive = Owned<dnnl_primitive, dnnl_primitive_destroy>;
using PrimitiveDesc = Owned<dnnl_primitive_desc, dnnl_primitive_desc_destroy>;
using Attributes = Owned<dnnl_primitive_attr, dnnl_primitive_attr_destroy>;
using PostOps = Owned<dnnl_post_ops, dnnl_post_ops_destroy>;

// Calls make(&object); nothing on failure.
template <class OwnedT, class Make> dnnl_status_t create(OwnedT &object, Make make) {
  typename OwnedT::pointer made = nullptr;
  dnnl_status_t status = make(&made);
  object.reset(made);
  return status;
}

struct Matmul {
  Memory a, b, c;
  Primitive primitive;
};

// What one thread has made.
struct Library {
  Engine engine;
  Queue queue;
  std::map<std::tuple<bool, bool, bool, GemmType, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>, Matmul> known;

  dnnl_status_t open() {
    if (queue)
      return dnnl_success;
    dnnl_status_t status = create(engine, [](auto *made) { return dnnl_engine_create(made, dnnl_cpu, 0); });
    if (status != dnnl_success)
      return status;
    return create(queue, [&](auto *made) { return dnnl_stream_create(made, engine.get(), dnnl_stream_default_flags); });
  }
  dnnl_status_t find(const Gemm &g, Matmul *&found);
  dnnl_status_t make(const Gemm &g, Matmul &matmul) const;
};

// Rows x columns with a leading dimension, or stored the other way around.
dnnl_status_t describe(dnnl_memory_desc_t &desc, int64_t rows, int64_t columns, int64_t leading, bool transposed,
                       dnnl_data_type_t type) {
  dnnl_dims_t sizes = {rows, columns}, strides = {transposed ? 1 : leading, transposed ? leading : 1};
  return dnnl_memory_desc_init_by_strides(&desc, 2, sizes, type, strides);
}

dnnl_status_t Library::make(const Gemm &g, Matmul &matmul) const {
  dnnl_memory_desc_t a, b, c;
  dnnl_data_type_t result = g.resultType == GemmType::F32 ? dnnl_f32 : dnnl_bf16;
  Attributes attributes;
  PostOps after;
  PrimitiveDesc desc;
  dnnl_matmul_desc_t op;
  dnnl_status_t status = dnnl_success;
  auto step = [&](auto &&call) {
    if (status == dnnl_success)
      status = call();
  };
  step([&] { return describe(a, g.m, g.k, g.lda, g.transA, dnnl_bf16); });
  step([&] { return describe(b, g.k, g.n, g.ldb, g.transB, dnnl_bf16); });
  step([&] { return describe(c, g.m, g.n, g.ldc, false, result); });
  step([&] { return create(attributes, dnnl_primitive_attr_create); });
  if (g.accumulate) {
    step([&] { return create(after, dnnl_post_ops_create); });
    step([&] { return dnnl_post_ops_append_sum(after.get(), 1.0f); });
    step([&] { return dnnl_primitive_attr_set_post_ops(attributes.get(), after.get()); });
  }
  step([&] { return dnnl_matmul_desc_init(&op, &a, &b, nullptr, &c); });
  step([&] {
    return create(desc, [&](auto *made) {
      return dnnl_primitive_desc_create(made, &op, attributes.get(), engine.get(), nullptr);
    });
  });
  step([&] { return create(matmul.primitive, [&](auto *made) { return dnnl_primitive_create(made, desc.get()); }); });
  auto memory = [&](Memory &object, const dnnl_memory_desc_t &of) {
    step([&] {
      return create(object, [&](auto *made) { return dnnl_memory_create(made, &of, engine.get(), DNNL_MEMORY_NONE); });
    });
  };
  memory(matmul.a, a);
  memory(matmul.b, b);
  memory(matmul.c, c);
  return status;
}

dnnl_status_t Library::find(const Gemm &g, Matmul *&found) {
  auto [entry, isNew] =
      known.try_emplace({g.transA, g.transB, g.accumulate, g.resultType, g.m, g.n, g.k, g.lda, g.ldb, g.ldc});
  found = &entry->second;
  dnnl_status_t status = isNew ? make(g, *found) : dnnl_success;
  if (status != dnnl_success)
    known.erase(entry);
  return status;
}

} // namespace

int multiplyBFloat(const Gemm &g, const void *a, const void *b, void *c) {
  thread_local Library library;
  Matmul *matmul = nullptr;
  dnnl_status_t status = library.open();
  if (status == dnnl_success)
    status = library.find(g, matmul);
  if (status != dnnl_success)
    return status;
  dnnl_memory_set_data_handle(matmul->a.get(), const_cast<void *>(a));
  dnnl_memory_set_data_handle(matmul->b.get(), const_cast<void *>(b));
  dnnl_memory_set_data_handle(matmul->c.get(), c);
  dnnl_exec_arg_t arguments[] = {
      {DNNL_ARG_SRC, matmul->a.get()}, {DNNL_ARG_WEIGHTS, matmul->b.get()}, {DNNL_ARG_DST, matmul->c.get()}};
  ProductMemory memory;
  status = dnnl_primitive_execute(matmul->primitive.get(), library.queue.get(), 3, arguments);
  return status == dnnl_success ? dnnl_stream_wait(library.queue.get()) : status;
}

} // namespace hocket::runtime
