// Initialises Kokkos before the first test of a program and finalises it after the last one.
#pragma once

namespace spillway::test {

bool add_kokkos_environment();

namespace {
// Adds the environment to every program that includes this header, before its main function begins.
[[maybe_unused]] bool const kokkos_environment_added = add_kokkos_environment();
}  // namespace

}  // namespace spillway::test
