// The one lowering from where to when.
#ifndef HOCKET_PASSES_DISTTOSTEP_TD
#define HOCKET_PASSES_DISTTOSTEP_TD
include "mlir/Pass/PassBase.td"

def DistToStepPass : Pass<"dist-to-step", "::mlir::ModuleOp"> {
  let summary = "cuts a partitioned training step into stages, bodies and schedule tables";
  let description = [{
    Each nn.training_step becomes a step.job and one step.program for each stage of its plan:
      * layers are cut into stages, other ops follow what they use (StagePlacement.h);
      * forward ops become the forward body, backward and weight_grad ops the backward body; a forward value that backward
        uses is kept in the microbatch's slot; what depends on nothing but the rank is made again instead;
      * a value used on a later (backward: an earlier) stage is a message over each directed edge on the way;
      * update is cut by where parameters live (UpdateHomes.h): a parameter of two stages has its gradients summed over them,
        norm and loss are one exchange over all stages, and both are ordinary collectives with a cause;
      * collectives become flat and rank-major (FlatCollectives.h);
      * the plan's schedule is solved and judged, and becomes the tables "train" and "eval". Where only the order of its rows
        is at fault, programs are made all the same, and the pass fails then: other faults can be found in them.
  }];
  let dependentDialects = ["::hocket::step::StepDialect"];
  let options = [Option<"semantics", "semantics", "std::string", "\"rendezvous\"",
                        "when a send is finished, by which step-verify-program will judge: a deadlock says whether it is one by that too">];
}
#endif
