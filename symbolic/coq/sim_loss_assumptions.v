(* The attended score lies between the least and the largest one. *)
Require Import Prelude Statements Lemmas Softmax.

Theorem amended_3 : sim_loss_assumptions_amended_3.
Proof.
  intros n s h N. pose proof (mean_between n s h ltac:(lia)). lra.
Qed.
