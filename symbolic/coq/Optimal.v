(* Optimal tokens bound the risk of attention from below. *)
Require Import Prelude Lemmas Softmax.

(* The deficit of an input: the mean distance of its scores g from the best one, weighted by the
   softmax of the logits s. *)
Definition deficit (T : nat) (s g : nat -> R) : R :=
  total T (fun t => softmax T s t * (most T g - g t)).

Lemma deficit_nonneg T s g : (0 < T)%nat -> 0 <= deficit T s g.
Proof.
  intros N. apply total_nonneg. intros t Ht. apply Rmult_le_pos; [apply Rlt_le, softmax_pos; lia|].
  pose proof (most_ge T g t Ht). lra.
Qed.

(* Softmax gives every token some weight, so that a worse token costs something. *)
Lemma deficit_pos T s g : (0 < T)%nat -> 0 < oscillation T g -> 0 < deficit T s g.
Proof.
  intros N O. destruct (least_attained T g N) as (j & Hj & E).
  apply Rlt_le_trans with (softmax T s j * (most T g - g j)).
  - apply Rmult_lt_0_compat; [apply softmax_pos; lia|]. unfold oscillation in O. lra.
  - apply (total_term T (fun t => softmax T s t * (most T g - g t)) j Hj).
    intros t Ht. apply Rmult_le_pos; [apply Rlt_le, softmax_pos; lia|].
    pose proof (most_ge T g t Ht). lra.
Qed.

Definition gap (n T : nat) (loss : R -> R) (s g : nat -> nat -> R) : R :=
  total n (fun i => loss (most T (g i) - deficit T (s i) (g i)) - loss (most T (g i))) / INR n.

(* The risk at any weights is at least the risk at the optimal tokens. *)
Lemma gap_nonneg n T loss s g : (0 < n)%nat -> (0 < T)%nat ->
  (forall a b, a < b -> loss b <= loss a) -> 0 <= gap n T loss s g.
Proof.
  intros N T0 F. apply Rmult_le_pos; [|apply Rlt_le, Rinv_0_lt_compat, lt_0_INR; lia].
  apply total_nonneg. intros i _. pose proof (deficit_nonneg T (s i) (g i) T0) as D.
  destruct (Rle_lt_or_eq_dec _ _ D) as [P|<-].
  - specialize (F (most T (g i) - deficit T (s i) (g i)) (most T (g i)) ltac:(lra)). lra.
  - rewrite Rminus_0_r. lra.
Qed.

(* The risk at any weights exceeds the risk at the optimal tokens if the loss decreases strictly and
   the scores of some input differ. *)
Lemma gap_pos n T loss s g : (0 < n)%nat -> (0 < T)%nat ->
  (forall a b, a < b -> loss b < loss a) -> 0 < most n (fun i => oscillation T (g i)) ->
  0 < gap n T loss s g.
Proof.
  intros N T0 F O. apply Rmult_lt_0_compat; [|apply Rinv_0_lt_compat, lt_0_INR; lia].
  destruct (most_attained n (fun i => oscillation T (g i)) N) as (k & Hk & E). rewrite E in O.
  set (drop := fun i => loss (most T (g i) - deficit T (s i) (g i)) - loss (most T (g i))).
  apply Rlt_le_trans with (drop k).
  - pose proof (deficit_pos T (s k) (g k) T0 O). unfold drop.
    specialize (F (most T (g k) - deficit T (s k) (g k)) (most T (g k)) ltac:(lra)). lra.
  - apply (total_term n drop k Hk). intros i _. unfold drop.
    pose proof (deficit_nonneg T (s i) (g i) T0) as D.
    destruct (Rle_lt_or_eq_dec _ _ D) as [P|<-].
    + specialize (F (most T (g i) - deficit T (s i) (g i)) (most T (g i)) ltac:(lra)). lra.
    + rewrite Rminus_0_r. lra.
Qed.
