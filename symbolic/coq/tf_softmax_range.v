(* The entries of softmax lie strictly between 0 and 1 if there are two. *)
Require Import Prelude Statements Lemmas Softmax.

Theorem amended_1 : tf_softmax_range_amended_1.
Proof.
  intros T v N H. assert (T2 : (2 <= T)%nat) by (apply INR_le; simpl; lra).
  split; [apply softmax_one; lia|split].
  - destruct (least_attained T (softmax T v) ltac:(lia)) as (i & Hi & ->). apply softmax_pos; lia.
  - destruct (most_attained T (softmax T v) ltac:(lia)) as (i & Hi & ->).
    pose proof (softmax_lt_one T v i ltac:(lia) Hi). lra.
Qed.

Theorem literal_1_refuted : ~ tf_softmax_range_literal_1.
Proof.
  intros H. destruct (H 1%nat (fun _ => 0) ltac:(lia)) as (_ & _ & B).
  simpl in B. unfold softmax in B. simpl in B. rewrite exp_0 in B.
  replace (1 / (0 + 1)) with 1 in B by field. lra.
Qed.

Theorem literal_2_refuted : ~ tf_softmax_range_literal_2.
Proof.
  intros H. specialize (H 2%nat (fun _ => 1) ltac:(lia)). simpl in H.
  rewrite Rmax_left, Rmax_left in H by lra. unfold is_zero in H.
  replace (1 - 1) with 0 in H by ring. destruct (Req_EM_T 0 0) as [_|n]; [|now apply n].
  rewrite Rabs_right in H by lra. destruct H as [H|H]; lra.
Qed.
