// Throws what Kokkos would end the process for, such as an error of CUDA that a kernel has caused.
// The linker puts this function in the place of Kokkos::Impl::host_abort (CMakeLists.txt).
#include <stdexcept>

[[noreturn]] void throw_what_kokkos_says(char const* what) asm("__wrap_" SPILLWAY_KOKKOS_ABORT);

void throw_what_kokkos_says(char const* what) {
  throw std::runtime_error(what);
}
