(* The map from x to softmax(A x) is Lipschitz with spread(A)/2, and with no smaller constant. *)
Require Import Prelude Statements Lemmas Softmax Pair.

Theorem sharp : sim_basic_4_sharp.
Proof.
  intros n D A x y N _. destruct sqrt2 as (S & SP).
  set (u := fun i => softmax n (times D A x) i - softmax n (times D A y) i).
  pose proof (mean_lipschitz n D A x y u (sqrt 2 * norm n u) ltac:(lia)
    ltac:(apply Rmult_le_pos; [lra|apply norm_nonneg]) (fun i j Hi Hj => unit_range n u i j Hi Hj)) as G.
  rewrite <- total_minus in G.
  rewrite (total_ext n _ (fun i => u i * u i)) in G by (intros; unfold u; ring).
  rewrite <- norm_square in G. fold u.
  assert (P : 0 <= norm n u) by apply norm_nonneg.
  assert (Q : 0 <= diameter n D A * norm D (fun k => x k - y k))
    by (apply Rmult_le_pos; [apply diameter_nonneg; lia|apply norm_nonneg]).
  set (e := norm D (fun k => x k - y k)) in *. unfold spread.
  replace (1 / 2 * (diameter n D A / sqrt 2) * e) with (sqrt 2 * (diameter n D A * e) / 4)
    by (replace 4 with (2 * (sqrt 2 * sqrt 2)) by lra; field; lra).
  destruct (Req_dec (norm n u) 0) as [Z|Z]; [rewrite Z; nra|].
  apply Rmult_le_reg_l with (norm n u); lra.
Qed.

Theorem sharp_tight : sim_basic_4_sharp_tight.
Proof.
  intros share L. destruct (pair_steep share L) as (x & y & H). destruct sqrt2 as (S & SP).
  exists 2%nat, 1%nat, pair, (fun _ => x), (fun _ => y). repeat split; [lia|lia|].
  rewrite pair_spread, norm_one. unfold norm. simpl.
  rewrite !pair_first, !pair_second. set (a := logistic (2 * x) - logistic (2 * y)) in *.
  replace (0 + a * a + (1 - logistic (2 * x) - (1 - logistic (2 * y))) *
    (1 - logistic (2 * x) - (1 - logistic (2 * y)))) with (2 * (a * a)) by (unfold a; ring).
  rewrite sqrt_mult by nra. change (a * a) with (Rsqr a). rewrite sqrt_Rsqr_abs.
  replace (share * (1 / 2 * sqrt 2 * Rabs (x - y)))
    with (sqrt 2 * (share * (1 / 2 * Rabs (x - y)))) by ring.
  apply Rmult_lt_compat_l; assumption.
Qed.
