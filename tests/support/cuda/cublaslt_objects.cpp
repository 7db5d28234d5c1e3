// Implements cublasLt's functions that make, change, read and destroy objects.
#include <cublasLt.h>

#include "tests/support/cuda/cublaslt_attributes.hpp"
#include "tests/support/cuda/cublaslt_call.hpp"

namespace cuda = spillway::test::cuda;
using cuda::LtHandle;
using cuda::LtLayout;
using cuda::LtMatmul;
using cuda::LtPreference;
using cuda::State;

namespace {

template <class Handle>
Handle as_handle(std::uintptr_t number) {
  return reinterpret_cast<Handle>(number);
}

template <class Object>
cublasStatus_t destroy(char const* call, void const* handle) {
  return cuda::lt_call(
      call,
      [&](State& all, bool) {
        cuda::lt_object<Object>(all, handle);
        all.lt.remove(reinterpret_cast<std::uintptr_t>(handle));
      },
      cuda::Gives::back);
}

template <class Object>
cublasStatus_t set(char const* call, void const* handle, int attribute, void const* value,
                   std::size_t bytes) {
  return cuda::lt_call(call, [&](State& all, bool) {
    auto& object = cuda::lt_object<Object>(all, handle);
    if (!cuda::set_attribute(attributes(object), &object, attribute, value, bytes))
      cuda::note_needless(all, call);
  });
}

template <class Object>
cublasStatus_t get(char const* call, void const* handle, int attribute, void* value,
                   std::size_t bytes, std::size_t* written) {
  return cuda::lt_call(call, [&](State& all, bool) {
    auto const& object = cuda::lt_object<Object>(all, handle);
    cuda::get_attribute(attributes(object), &object, attribute, value, bytes, written);
  });
}

// Sets an attribute of a new object to the value that the caller of cublasLt...Create has passed.
// Throws Refused if set_attribute() would.
template <class Object, class Value>
void initialise(Object& object, int attribute, Value value) {
  cuda::set_attribute(attributes(object), &object, attribute, &value, sizeof value);
}

}  // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return cuda::lt_call("cublasLtCreate", [&](State& all, bool) {
    *handle = as_handle<cublasLtHandle_t>(all.lt.add(LtHandle{cuda::thread_state().device}));
  });
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  return destroy<LtHandle>("cublasLtDestroy", handle);
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmul, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  return cuda::lt_call("cublasLtMatmulDescCreate", [&](State& all, bool) {
    LtMatmul made;
    initialise(made, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, compute);
    initialise(made, CUBLASLT_MATMUL_DESC_SCALE_TYPE, scale);
    *matmul = as_handle<cublasLtMatmulDesc_t>(all.lt.add(made));
  });
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t matmul) {
  return destroy<LtMatmul>("cublasLtMatmulDescDestroy", matmul);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t matmul,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              void const* value, std::size_t bytes) {
  return set<LtMatmul>("cublasLtMatmulDescSetAttribute", matmul, attribute, value, bytes);
}

cublasStatus_t cublasLtMatmulDescGetAttribute(cublasLtMatmulDesc_t matmul,
                                              cublasLtMatmulDescAttributes_t attribute, void* value,
                                              std::size_t bytes, std::size_t* written) {
  return get<LtMatmul>("cublasLtMatmulDescGetAttribute", matmul, attribute, value, bytes, written);
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t cols, std::int64_t ld) {
  return cuda::lt_call("cublasLtMatrixLayoutCreate", [&](State& all, bool) {
    LtLayout made{.rows = rows, .cols = cols, .ld = ld};
    initialise(made, CUBLASLT_MATRIX_LAYOUT_TYPE, type);
    *layout = as_handle<cublasLtMatrixLayout_t>(all.lt.add(made));
  });
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<LtLayout>("cublasLtMatrixLayoutDestroy", layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                void const* value, std::size_t bytes) {
  return set<LtLayout>("cublasLtMatrixLayoutSetAttribute", layout, attribute, value, bytes);
}

cublasStatus_t cublasLtMatrixLayoutGetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                void* value, std::size_t bytes,
                                                std::size_t* written) {
  return get<LtLayout>("cublasLtMatrixLayoutGetAttribute", layout, attribute, value, bytes,
                       written);
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return cuda::lt_call("cublasLtMatmulPreferenceCreate", [&](State& all, bool) {
    *preference = as_handle<cublasLtMatmulPreference_t>(all.lt.add(LtPreference{}));
  });
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<LtPreference>("cublasLtMatmulPreferenceDestroy", preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    void const* value, std::size_t bytes) {
  return set<LtPreference>("cublasLtMatmulPreferenceSetAttribute", preference, attribute, value,
                           bytes);
}
