(* The logistic function is Lipschitz with 1/4, and with no smaller constant. *)
Require Import Prelude Statements Lemmas Logistic.

Theorem sharp : sim_logistic_lipschitz_sharp.
Proof. exact logistic_lipschitz. Qed.

Theorem literal : sim_logistic_lipschitz_literal.
Proof.
  intros x y. eapply Rle_trans; [apply sharp|]. apply Rmult_le_compat_r; [apply Rabs_pos|lra].
Qed.

Theorem sharp_tight : sim_logistic_lipschitz_sharp_tight.
Proof. exact logistic_tight. Qed.
