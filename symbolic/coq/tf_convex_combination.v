(* The output of attention lies in the convex hull of the tokens: along any u it is at most the
   largest <x_t, u>, and below it if the <x_t, u> differ. It can be 0. *)
Require Import Prelude Statements Lemmas Softmax.

Lemma output_along T d X s u :
  total d (fun k => u k * times T (fun i j => X j i) s k)
  = total T (fun t => s t * times d X u t).
Proof.
  unfold times.
  rewrite (total_ext d _ (fun k => total T (fun t => s t * (X t k * u k)))).
  - rewrite <- total_swap. apply total_ext. intros t _. now rewrite total_scal.
  - intros k _. rewrite <- total_scal. apply total_ext. intros; ring.
Qed.

Theorem literal_1 : tf_convex_combination_literal_1.
Proof.
  intros T d X z W u N _. rewrite output_along. unfold oscillation.
  pose proof (mean_between T (times d X (times d W z)) (times d X u) ltac:(lia)). lra.
Qed.

Theorem sharp_1 : tf_convex_combination_sharp_1.
Proof.
  intros T d X z W u N _ O. rewrite Rmult_0_l.
  set (a := times d X u) in *. set (s := times d X (times d W z)).
  destruct (least_attained T a ltac:(lia)) as (j & Hj & E).
  apply Rlt_le_trans with (softmax T s j * (most T a - a j)).
  - apply Rmult_lt_0_compat; [apply softmax_pos; lia|]. unfold oscillation in O. lra.
  - apply (total_term T (fun i => softmax T s i * (most T a - a i)) j Hj).
    intros i Hi. apply Rmult_le_pos; [apply Rlt_le, softmax_pos; lia|].
    pose proof (most_ge T a i Hi). lra.
Qed.

Theorem literal_3_refuted : ~ tf_convex_combination_literal_3.
Proof.
  intros H. specialize (H 1%nat 1%nat (fun _ _ => 0) (fun _ => 0) (fun _ _ => 0) ltac:(lia) ltac:(lia)).
  unfold norm, times in H. simpl in H.
  match type of H with 0 < sqrt ?x => replace x with 0 in H by ring end.
  rewrite sqrt_0 in H. lra.
Qed.
