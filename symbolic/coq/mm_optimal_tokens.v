(* The risk is above its value at the optimal tokens, for every W and p. *)
Require Import Prelude Statements Optimal.

Theorem amended_1 : mm_optimal_tokens_amended_1.
Proof.
  intros n T d X Y v W p loss N T0 _ F O. rewrite Rmult_0_l.
  apply (gap_pos n T loss (fun i => times d (X i) (times d (fun a b => W b a) p))
    (fun i t => Y i * total d (fun k => X i t k * v k))); [lia|lia|exact F|exact O].
Qed.

Theorem literal_1 : mm_optimal_tokens_literal_1.
Proof.
  intros n T d X Y v W p loss N T0 _ F.
  apply (gap_nonneg n T loss (fun i => times d (X i) (times d (fun a b => W b a) p))
    (fun i t => Y i * total d (fun k => X i t k * v k))); [lia|lia|exact F].
Qed.
