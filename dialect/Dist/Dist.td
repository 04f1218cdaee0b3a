// The dist dialect: where each value lives. Mesh, shardings, the plan with its tactics, collectives, rank-dependent numbers.
#ifndef HOCKET_DIST_TD
#define HOCKET_DIST_TD
include "dialect/Dist/DistBase.td"
include "dialect/Dist/DistPlan.td"
include "dialect/Dist/DistCollectives.td"
include "dialect/Dist/DistLocal.td"
#endif
