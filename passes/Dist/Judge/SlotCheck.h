// Judges what goes into slots and comes out of them.
#pragma once
#include "passes/Dist/Judge/Claims.h"

namespace hocket::dist::judge {

void checkSlot(Claims &claims, nn::SlotOp slot);    ///< C22
void checkRead(Claims &claims, nn::ReadOp read);    ///< C23
void checkWrite(Claims &claims, nn::WriteOp write); ///< C23
} // namespace hocket::dist::judge
