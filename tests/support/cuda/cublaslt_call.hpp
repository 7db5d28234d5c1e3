// Does what every function of cublasLt's API does before and after its own work.
#pragma once

#include <cublasLt.h>

#include <array>
#include <string>

#include "tests/support/cuda/call.hpp"

namespace spillway::test::cuda {

// The body of a call throws this if the call's arguments are not allowed. The call then has no
// effect.
struct Refused {
  cublasStatus_t status;
  std::string why;
};

inline Refused invalid(std::string why) {
  return {CUBLAS_STATUS_INVALID_VALUE, std::move(why)};
}
inline Refused not_supported(std::string why) {
  return {CUBLAS_STATUS_NOT_SUPPORTED, std::move(why)};
}

inline cublasStatus_t status_of(cudaError_t error) {
  if (error == cudaSuccess) return CUBLAS_STATUS_SUCCESS;
  return error == cudaErrorMemoryAllocation ? CUBLAS_STATUS_ALLOC_FAILED
                                            : CUBLAS_STATUS_EXECUTION_FAILED;
}

// Passes body(state, stuck) to counted(). A Refused that the body throws becomes a complaint and
// the status of the call.
template <class Body>
cublasStatus_t lt_call(char const* name, Body const& body, Gives gives = Gives::nothing) {
  auto status = CUBLAS_STATUS_SUCCESS;
  auto const error = counted(name, gives, [&](State& all, bool stuck) {
    try {
      body(all, stuck);
    } catch (Refused const& refused) {
      complain(fmt::format("{}: {}", name, refused.why));
      status = refused.status;
    }
    return cudaSuccess;
  });
  return error == cudaSuccess ? status : status_of(error);
}

// Returns the object that this handle names. Throws Refused if there is no such object.
template <class Object>
Object& lt_object(State& all, void const* handle) {
  auto* const object = all.lt.find<Object>(reinterpret_cast<std::uintptr_t>(handle));
  if (object == nullptr) throw invalid(fmt::format("a {} that does not exist", lt_name(Object{})));
  return *object;
}

inline std::array<LtLayout, 4> lt_layouts(State& all,
                                          std::array<cublasLtMatrixLayout_t, 4> const& handles) {
  std::array<LtLayout, 4> result;
  for (std::size_t i = 0; i < handles.size(); ++i) result[i] = lt_object<LtLayout>(all, handles[i]);
  return result;
}

// Throws Refused if the handle was not made on the device that the thread has chosen.
inline void expect_handle_of_thread(State& all, cublasLtHandle_t handle) {
  auto const device = lt_object<LtHandle>(all, handle).device;
  if (device == thread_state().device) return;
  throw invalid(fmt::format("a handle of device {} from a thread that has chosen device {}", device,
                            thread_state().device));
}

}  // namespace spillway::test::cuda
