(* The sharp Lipschitz constants of the diagonal matrix of softmax(A x), in the spectral norm (1) and
   in the Frobenius norm (2). *)
Require Import Prelude Statements Lemmas Softmax Pair.
Require sim_basic_4.

Theorem sharp_1 : sim_basic_6_sharp_1.
Proof.
  intros n D A x y N _. apply most_le; [lia|]. intros i Hi.
  set (u := fun k => if Nat.eq_dec k i then 1 else 0).
  assert (E : forall p, total n (fun k => p k * u k) = p i).
  { intros p. clear x y A N. induction n as [|m IH]; [lia|]. simpl.
    destruct (Nat.eq_dec i m) as [->|ne].
    - rewrite (total_ext m _ (fun _ => 0)), total_const.
      + unfold u. destruct (Nat.eq_dec m m); [ring|congruence].
      + intros k Hk. unfold u. destruct (Nat.eq_dec k m); [lia|ring].
    - rewrite IH by lia. unfold u. destruct (Nat.eq_dec m i); [congruence|ring]. }
  pose proof (mean_lipschitz_abs n D A x y u 1 ltac:(lia) ltac:(lra)) as G.
  rewrite !E in G. replace (sqrt 2 / 4 * 1) with (sqrt 2 / 4) in G by ring. apply G.
  intros j k _ _. unfold u. destruct (Nat.eq_dec j i), (Nat.eq_dec k i); lra.
Qed.

Theorem sharp_2 : sim_basic_6_sharp_2.
Proof. exact sim_basic_4.sharp. Qed.

Theorem sharp_2_tight : sim_basic_6_sharp_2_tight.
Proof. exact sim_basic_4.sharp_tight. Qed.

Theorem sharp_1_tight : sim_basic_6_sharp_1_tight.
Proof.
  intros share L. destruct (pair_steep share L) as (x & y & H). destruct sqrt2 as (S & SP).
  exists 2%nat, 1%nat, pair, (fun _ => x), (fun _ => y). repeat split; [lia|lia|].
  rewrite pair_spread, norm_one. simpl. rewrite !pair_first.
  eapply Rlt_le_trans; [|apply Rmax_l].
  replace (share * (sqrt 2 / 4 * sqrt 2 * Rabs (x - y)))
    with (share * (sqrt 2 * sqrt 2 / 4 * Rabs (x - y))) by field.
  rewrite S. replace (2 / 4) with (1 / 2) by field. exact H.
Qed.
