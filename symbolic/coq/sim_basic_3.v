(* The inverse of a sum of exponentials is Lipschitz in the sum. *)
Require Import Prelude Statements Lemmas Softmax.

Lemma inverses a b c : 0 < c -> c <= a -> c <= b ->
  Rabs (1 / a - 1 / b) <= 1 / (c * c) * Rabs (a - b).
Proof.
  intros P A B. replace (1 / a - 1 / b) with (- (/ (a * b) * (a - b))) by (field; lra).
  rewrite Rabs_Ropp, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|].
  assert (Q : c * c <= a * b) by (apply Rmult_le_compat; lra).
  rewrite Rabs_right by (apply Rle_ge, Rlt_le, Rinv_0_lt_compat; nra).
  unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; nra.
Qed.

Theorem literal_1 : sim_basic_3_literal_1.
Proof. intros n D A x y beta _ _ (P & X) (_ & Y). now apply inverses. Qed.

Theorem sharp_1 : sim_basic_3_sharp_1.
Proof. exact literal_1. Qed.

(* If the mean of the n numbers s_i is at least m, the sum of the exp(s_i) is at least n exp(m), as
   exp(s) >= exp(m) (1 + s - m) for every s. *)
Lemma exponentials_ge n s m : INR n * m <= total n s ->
  INR n * exp m <= total n (fun i => exp (s i)).
Proof.
  intros H. assert (T : forall a, exp m * (1 + a - m) <= exp a).
  { intros a. replace a with (m + (a - m)) at 2 by ring. rewrite exp_plus.
    apply Rmult_le_compat_l; [apply Rlt_le, exp_pos|].
    pose proof (exp_ineq1_le (a - m)). lra. }
  apply Rle_trans with (total n (fun i => exp m * (1 + s i - m))).
  - rewrite total_scal, total_minus, total_plus, !total_const.
    assert (0 < exp m) by apply exp_pos. nra.
  - apply total_le. intros; apply T.
Qed.

Theorem sharp_2 : sim_basic_3_sharp_2.
Proof.
  intros n D A x y r N _ (X & Y).
  assert (n0 : 0 < INR n) by (apply lt_0_INR; lia).
  assert (sn : 0 < sqrt (INR n)) by (now apply sqrt_lt_R0).
  assert (ss : sqrt (INR n) * sqrt (INR n) = INR n) by (apply sqrt_sqrt; lra).
  assert (L : forall z, norm n (times D A z) <= r ->
    INR n * exp (- (r / sqrt (INR n))) <= total n (fun i => exp (times D A z i))).
  { intros z Z. apply exponentials_ge.
    pose proof (cauchy n (fun _ => - 1) (times D A z)) as C.
    rewrite (total_ext n _ (fun i => - times D A z i)), total_opp in C by (intros; ring).
    replace (norm n (fun _ => - 1)) with (sqrt (INR n)) in C
      by (unfold norm; rewrite total_const; f_equal; ring).
    replace (INR n * - (r / sqrt (INR n))) with (- (sqrt (INR n) * r))
      by (rewrite <- ss at 2; field; lra).
    nra. }
  set (c := INR n * exp (- (r / sqrt (INR n)))) in *.
  assert (c0 : 0 < c) by (apply Rmult_lt_0_compat; [exact n0|apply exp_pos]).
  replace (exp (2 * r / sqrt (INR n)) / (INR n * INR n)) with (1 / (c * c)).
  - apply inverses; auto.
  - unfold c. replace (2 * r / sqrt (INR n)) with (r / sqrt (INR n) + r / sqrt (INR n))
      by (field; lra).
    rewrite exp_plus, !exp_Ropp. pose proof (exp_pos (r / sqrt (INR n))). field. lra.
Qed.
