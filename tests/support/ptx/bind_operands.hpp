#pragma once

#include "tests/support/ptx/frame.hpp"
#include "tests/support/ptx/table.hpp"

namespace spillway::test::ptx {

// Returns the Operation of an instruction of this form, with the slots of its operands. Throws
// Refused if the operands are not those of the form.
Operation with_operands(Form const& form, Frame& frame, Instruction const& instruction);

}  // namespace spillway::test::ptx
