(* The derivative of the logistic function is Lipschitz with 1/(6 sqrt 3), and with no smaller
   constant. *)
From Coquelicot Require Import Coquelicot.
Require Import Prelude Statements Lemmas.

Definition curvature (x : R) : R :=
  exp (- x) * (exp (- x) - 1) / ((1 + exp (- x)) * (1 + exp (- x)) * (1 + exp (- x))).

Lemma slope_derivative x : is_derive logistic_slope x (curvature x).
Proof.
  unfold logistic_slope, curvature. assert (P := exp_pos (- x)). auto_derive.
  - apply Rmult_integral_contrapositive_currified; lra.
  - field. lra.
Qed.

Lemma sqrt3 : sqrt 3 * sqrt 3 = 3 /\ 0 < sqrt 3.
Proof. split; [apply sqrt_sqrt; lra|apply sqrt_lt_R0; lra]. Qed.

(* With e = exp(-x) and a = (1 - e)/(1 + e), the curvature is -a (1 - a^2)/4, and
   |a (1 - a^2)| <= 2/(3 sqrt 3). *)
Lemma curvature_bound x : Rabs (curvature x) <= 1 / (6 * sqrt 3).
Proof.
  unfold curvature. set (e := exp (- x)). assert (P : 0 < e) by apply exp_pos.
  destruct sqrt3 as (S & SP). set (s := sqrt 3) in *.
  set (a := (1 - e) / (1 + e)).
  assert (A : a * a <= 1).
  { unfold a. apply Rmult_le_reg_r with ((1 + e) * (1 + e)); [nra|].
    replace ((1 - e) / (1 + e) * ((1 - e) / (1 + e)) * ((1 + e) * (1 + e)))
      with ((1 - e) * (1 - e)) by (field; lra). nra. }
  replace (e * (e - 1) / ((1 + e) * (1 + e) * (1 + e))) with (- (a * (1 - a * a) / 4))
    by (unfold a; field; lra).
  replace (1 / (6 * s)) with (s / 18).
  2:{ apply (Rmult_eq_reg_r (6 * s)); [|lra].
      replace (1 / (6 * s) * (6 * s)) with 1 by (field; lra). lra. }
  assert (U : a * (1 - a * a) <= 2 * s / 9).
  { assert (E : 2 * s / 9 - a * (1 - a * a) = (a - s / 3) * (a - s / 3) * (a + 2 * s / 3)
      + (3 - s * s) * (2 * s / 27 - a / 3)) by field.
    rewrite S in E. destruct (Rle_lt_dec 0 (a + 2 * s / 3)).
    - assert (0 <= (a - s / 3) * (a - s / 3) * (a + 2 * s / 3))
        by (apply Rmult_le_pos; [apply Rle_0_sqr|assumption]). lra.
    - nra. }
  assert (V : - (2 * s / 9) <= a * (1 - a * a)).
  { assert (E : 2 * s / 9 + a * (1 - a * a) = (a + s / 3) * (a + s / 3) * (2 * s / 3 - a)
      + (3 - s * s) * (2 * s / 27 + a / 3)) by field.
    rewrite S in E. destruct (Rle_lt_dec 0 (2 * s / 3 - a)).
    - assert (0 <= (a + s / 3) * (a + s / 3) * (2 * s / 3 - a))
        by (apply Rmult_le_pos; [apply Rle_0_sqr|assumption]). lra.
    - nra. }
  apply Rabs_le. lra.
Qed.

Theorem sharp : sim_lemma_3_12_sharp.
Proof. intros x y. apply (lipschitz _ curvature); [apply slope_derivative|apply curvature_bound]. Qed.

Theorem literal : sim_lemma_3_12_literal.
Proof.
  intros x y. eapply Rle_trans; [apply sharp|]. apply Rmult_le_compat_r; [apply Rabs_pos|].
  destruct sqrt3 as (S & SP). apply Rmult_le_reg_r with (6 * sqrt 3); [lra|].
  replace (1 / (6 * sqrt 3) * (6 * sqrt 3)) with 1 by (field; lra). nra.
Qed.

(* At x = - ln((1 - r)/(1 + r)) with r = 1/sqrt 3 the curvature is the bound. *)
Lemma attained : exists x, Rabs (curvature x) = 1 / (6 * sqrt 3).
Proof.
  destruct sqrt3 as (S & SP). exists (- ln ((sqrt 3 - 1) / (sqrt 3 + 1))).
  assert (1 < sqrt 3) by nra.
  assert (P : 0 < (sqrt 3 - 1) / (sqrt 3 + 1)) by (apply Rdiv_lt_0_compat; lra).
  unfold curvature. rewrite Ropp_involutive, exp_ln by assumption.
  set (s := sqrt 3) in *.
  replace ((s - 1) / (s + 1) * ((s - 1) / (s + 1) - 1) /
    ((1 + (s - 1) / (s + 1)) * (1 + (s - 1) / (s + 1)) * (1 + (s - 1) / (s + 1))))
    with (- ((s * s - 1) / (4 * (s * s * s)))) by (field; split; [lra|lra]).
  rewrite Rabs_Ropp, S, Rabs_right.
  - field. lra.
  - apply Rle_ge, Rmult_le_pos; [lra|]. apply Rlt_le, Rinv_0_lt_compat. nra.
Qed.

Theorem sharp_tight : sim_lemma_3_12_sharp_tight.
Proof.
  intros share L. destruct attained as (x0 & E).
  apply Classical_Pred_Type.not_all_not_ex. intros N.
  assert (C : Rabs (curvature x0) <= share * (1 / (6 * sqrt 3))).
  { apply (slope_of_lipschitz logistic_slope x0); [apply slope_derivative|]. intros x y.
    apply Rnot_lt_le. intros M. apply (N x). exists y. rewrite <- Rmult_assoc. exact M. }
  rewrite E in C. destruct sqrt3 as (_ & SP).
  assert (0 < 1 / (6 * sqrt 3)) by (apply Rdiv_lt_0_compat; lra). nra.
Qed.
