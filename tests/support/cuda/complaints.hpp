// What a program did that CUDA forbids, or does not promise, in words.
#pragma once

#include <string>
#include <vector>

namespace spillway::test::cuda {

void complain(std::string const& text);  // the same text is kept once
std::vector<std::string> complaints();
void forget_complaints();

// Says what this thread does from now on, for complaints and traps. The text must outlive that.
void doing(char const* text);
char const* doing();  // "" if nothing was said

}  // namespace spillway::test::cuda
