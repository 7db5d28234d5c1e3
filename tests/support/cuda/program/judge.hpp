// Sets up the stand-in for a program, as environment variables say, and judges it at the end.
// SPILLWAY_STAND_IN_DEVICES, _MEMORY (bytes), _TAKEN (bytes), _ARCHITECTURES (such as 75,90) and
// _SEED set the Settings with these names. SPILLWAY_STAND_IN_FAULT is "CALL:N:KIND", a PlannedFault
// on rank 0 alone. SPILLWAY_STAND_IN_CALLS names a file to which the counts of all calls, and of
// the turns of warps, are written.
#pragma once

namespace spillway::test::cuda {

// Says whether something may be left if the environment plans a fault.
enum class AfterFault { nothing_left, may_leave };

// The first call sets up the stand-in; at the end of the process it is judged. If there are
// complaints, or if something was not given back, the process ends with status 99.
void begin_judged(AfterFault after_fault = AfterFault::nothing_left);

}  // namespace spillway::test::cuda
