(* The logistic function: its slope is at most 1/4, which is attained at 0. *)
From Coquelicot Require Import Coquelicot.
Require Import Prelude Lemmas.

Lemma logistic_derivative x : is_derive logistic x (logistic_slope x).
Proof.
  unfold logistic, logistic_slope. assert (P := exp_pos (- x)). auto_derive; [lra|field; lra].
Qed.

Lemma logistic_slope_bound x : Rabs (logistic_slope x) <= 1 / 4.
Proof.
  unfold logistic_slope. assert (P := exp_pos (- x)). set (e := exp (- x)) in *.
  assert (Q : 0 < (1 + e) * (1 + e)) by nra.
  rewrite Rabs_right by (apply Rle_ge, Rlt_le, Rdiv_lt_0_compat; lra).
  apply Rmult_le_reg_r with ((1 + e) * (1 + e)); [exact Q|].
  replace (e / ((1 + e) * (1 + e)) * ((1 + e) * (1 + e))) with e by (field; lra).
  pose proof (Rle_0_sqr (1 - e)) as S. unfold Rsqr in S. lra.
Qed.

Lemma logistic_lipschitz x y : Rabs (logistic x - logistic y) <= 1 / 4 * Rabs (x - y).
Proof.
  apply (lipschitz _ logistic_slope); [apply logistic_derivative|apply logistic_slope_bound].
Qed.

(* No constant below 1/4 is a Lipschitz constant. *)
Lemma logistic_tight share : share < 1 -> exists x y,
  share * (1 / 4 * Rabs (x - y)) < Rabs (logistic x - logistic y).
Proof.
  intros L. apply Classical_Pred_Type.not_all_not_ex. intros N.
  assert (C : Rabs (logistic_slope 0) <= share * (1 / 4)).
  { apply (slope_of_lipschitz logistic 0); [apply logistic_derivative|]. intros x y.
    apply Rnot_lt_le. intros M. apply (N x). exists y. lra. }
  unfold logistic_slope in C. rewrite Ropp_0, exp_0 in C.
  replace (1 / ((1 + 1) * (1 + 1))) with (1 / 4) in C by field.
  rewrite Rabs_right in C by lra. lra.
Qed.
