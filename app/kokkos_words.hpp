// Takes Kokkos' own options from the command line.
#pragma once

namespace spillway {

// Removes the words --kokkos-NAME or --kokkos-NAME=VALUE from the command line, and sets the
// environment variables KOKKOS_NAME that mean the same. Every Kokkos of the process, also that of a
// module for devices, reads these when it begins. Throws Error(bad_input) for an option that does
// not exist, or that a key of the input file decides. No other thread may run.
void take_kokkos_words(int& argc, char** argv);

}  // namespace spillway
