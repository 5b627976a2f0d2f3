(* The tactic that decides propositions about numbers: no variable is left in them. *)
From Interval Require Import Tactic.
Require Import Prelude.

Lemma is_zero_at x : x = 0 -> is_zero x = 1.
Proof. intros ->. unfold is_zero. destruct (Req_EM_T 0 0) as [|n]; [reflexivity|now elim n]. Qed.

Lemma is_zero_off x : x <> 0 -> is_zero x = 0.
Proof. intros H. unfold is_zero. destruct (Req_EM_T x 0); [contradiction|reflexivity]. Qed.

Ltac strict :=
  first [lra | interval | interval with (i_prec 200) | interval with (i_prec 600)].

Ltac nonzero := repeat split; first [lra | apply Rgt_not_eq; strict | apply Rlt_not_eq; strict].

(* The last case: equal arguments of the same function, as in ln (1 + x) = ln (x + 1). *)
Ltac equal := first [lra | field; nonzero | progress f_equal; equal].

Ltac compare :=
  lazymatch goal with
  | |- _ = _ => equal
  | |- _ => first [strict | apply Req_le; equal]
  end.

(* Exact values first, so that equal sides stay equal. *)
Ltac exact_values :=
  repeat match goal with
  | |- context [exp ?x] => replace x with 0 by equal; rewrite exp_0
  | |- context [ln ?x] => replace x with 1 by equal; rewrite ln_1
  | |- context [sqrt ?x] => replace x with 0 by equal; rewrite sqrt_0
  | |- context [sqrt ?x] => replace x with 1 by equal; rewrite sqrt_1
  | |- context [Rabs ?x] => first [rewrite (Rabs_right x) by lra | rewrite (Rabs_left1 x) by lra]
  end.

Ltac branches :=
  repeat match goal with
  | |- context [is_zero ?x] =>
      first [rewrite (is_zero_at x) by equal | rewrite (is_zero_off x) by nonzero]
  | |- context [Rmax ?a ?b] =>
      first [rewrite (Rmax_left a b) by compare | rewrite (Rmax_right a b) by compare]
  | |- context [Rmin ?a ?b] =>
      first [rewrite (Rmin_left a b) by compare | rewrite (Rmin_right a b) by compare]
  end.

Ltac decide_part :=
  lazymatch goal with
  | |- _ /\ _ => split; decide_part
  | |- _ \/ _ => first [left; solve [decide_part] | right; solve [decide_part]]
  | |- _ <> _ => solve [nonzero]
  | |- _ => compare
  end.

Ltac decide_numbers :=
  unfold logistic, logistic_slope;
  first [solve [decide_part] | exact_values; branches; exact_values; decide_part].
