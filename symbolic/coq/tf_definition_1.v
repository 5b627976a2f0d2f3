(* Two tokens of equal score are both optimal. *)
Require Import Prelude Statements Lemmas Softmax.

Theorem literal_1_refuted : ~ tf_definition_1_literal_1.
Proof.
  intros H. specialize (H 2%nat 1%nat (fun _ _ => 0) (fun _ => 0) ltac:(lia) ltac:(lia)).
  unfold times in H. simpl in H. replace (0 + 0 * 0) with 0 in H by ring.
  rewrite Rmax_left in H by lra. unfold is_zero in H.
  replace (0 - 0) with 0 in H by ring. destruct (Req_EM_T 0 0) as [_|n]; [lra|now apply n].
Qed.
