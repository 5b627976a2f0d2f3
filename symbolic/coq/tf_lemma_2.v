(* The risk is above its value at the optimal tokens, for every W. *)
Require Import Prelude Statements Optimal.

Theorem amended : tf_lemma_2_amended.
Proof.
  intros n T d X Z Y v W loss N T0 _ F O. rewrite Rmult_0_l.
  apply (gap_pos n T loss (fun i => times d (X i) (times d W (Z i)))
    (fun i t => Y i * total d (fun k => X i t k * v k))); [lia|lia|exact F|exact O].
Qed.
