// Kokkos around all tests of a program: initialised before the first, finalised after the last.
#pragma once

namespace spillway::test {

bool add_kokkos_environment();

namespace {
// In every test program that includes this header, before its main function begins.
[[maybe_unused]] bool const kokkos_environment_added = add_kokkos_environment();
}  // namespace

}  // namespace spillway::test
