// Collects complaints: texts that say what the program did that CUDA forbids or does not promise.
#pragma once

#include <string>
#include <vector>

namespace spillway::test::cuda {

void complain(std::string const& text);  // the same text is kept only once
std::vector<std::string> complaints();
void forget_complaints();

// Says what this thread does from now on, for complaints and traps. The text must live as long.
void doing(char const* text);
char const* doing();  // returns "" if nothing was said

}  // namespace spillway::test::cuda
