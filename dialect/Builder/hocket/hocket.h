// Models, recipes, meshes and plans of Hocket in C++. One line to include all of it.
#pragma once
#include "hocket/Main.h"
#include "hocket/Module.h"
#include "hocket/Ops.h"
#include "hocket/Plan.h"
#include "hocket/Recipe.h"
#include "hocket/Scalar.h"
#include "hocket/Scope.h"
#include "hocket/Tensor.h"
