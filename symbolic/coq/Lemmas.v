(* Lemmas that several proofs use: on sums, maxima, norms and functions of bounded slope. *)
From Coquelicot Require Import Coquelicot.
Require Import Prelude.

Lemma total_ext n f g : (forall i, (i < n)%nat -> f i = g i) -> total n f = total n g.
Proof. induction n; simpl; intros H; [reflexivity|]. rewrite IHn by (intros; apply H; lia).
  now rewrite (H n) by lia. Qed.

Lemma total_le n f g : (forall i, (i < n)%nat -> f i <= g i) -> total n f <= total n g.
Proof. induction n; simpl; intros H; [lra|]. apply Rplus_le_compat; [apply IHn; intros; apply H; lia|].
  apply H; lia. Qed.

Lemma total_plus n f g : total n (fun i => f i + g i) = total n f + total n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma total_scal n c f : total n (fun i => c * f i) = c * total n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma total_opp n f : total n (fun i => - f i) = - total n f.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma total_minus n f g : total n (fun i => f i - g i) = total n f - total n g.
Proof. induction n; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma total_const n c : total n (fun _ => c) = INR n * c.
Proof. induction n; [simpl; ring|]. rewrite S_INR. simpl total. rewrite IHn. ring. Qed.

Lemma total_nonneg n f : (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= total n f.
Proof. intros H. replace 0 with (total n (fun _ => 0)) by (rewrite total_const; ring).
  now apply total_le. Qed.

Lemma total_pos n f : (0 < n)%nat -> (forall i, (i < n)%nat -> 0 < f i) -> 0 < total n f.
Proof. destruct n as [|n]; [lia|]. intros _ H. simpl.
  assert (0 <= total n f) by (apply total_nonneg; intros; apply Rlt_le, H; lia).
  specialize (H n ltac:(lia)). lra. Qed.

Lemma total_swap n p f :
  total n (fun i => total p (fun j => f i j)) = total p (fun j => total n (fun i => f i j)).
Proof. induction n; simpl; [symmetry; rewrite total_const; ring|]. rewrite IHn.
  now rewrite <- total_plus. Qed.

Lemma total_term n f i : (i < n)%nat -> (forall j, (j < n)%nat -> 0 <= f j) -> f i <= total n f.
Proof. induction n; [lia|]. intros Hi H. simpl.
  destruct (Nat.eq_dec i n) as [->|ne].
  - assert (0 <= total n f) by (apply total_nonneg; intros; apply H; lia). lra.
  - assert (f i <= total n f) by (apply IHn; [lia|intros; apply H; lia]).
    specialize (H n ltac:(lia)). lra. Qed.

Lemma most_ge n f i : (i < n)%nat -> f i <= most n f.
Proof. induction n as [|n IH]; [lia|]. intros Hi. destruct n as [|n].
  - replace i with 0%nat by lia. simpl; lra.
  - change (most (S (S n)) f) with (Rmax (most (S n) f) (f (S n))).
    destruct (Nat.eq_dec i (S n)) as [->|ne]; [apply Rmax_r|].
    eapply Rle_trans; [apply IH; lia|apply Rmax_l]. Qed.

Lemma most_attained n f : (0 < n)%nat -> exists i, (i < n)%nat /\ most n f = f i.
Proof. induction n as [|n IH]; [lia|]. intros _. destruct n as [|n].
  - exists 0%nat; split; [lia|reflexivity].
  - change (most (S (S n)) f) with (Rmax (most (S n) f) (f (S n))).
    destruct (IH ltac:(lia)) as (i & Hi & E). unfold Rmax.
    destruct (Rle_dec (most (S n) f) (f (S n))); [exists (S n)|exists i]; split; auto; lia. Qed.

Lemma most_le n f c : (0 < n)%nat -> (forall i, (i < n)%nat -> f i <= c) -> most n f <= c.
Proof. intros H0 H. destruct (most_attained n f H0) as (i & Hi & ->). auto. Qed.

Lemma most_lt n f c : (0 < n)%nat -> (forall i, (i < n)%nat -> f i < c) -> most n f < c.
Proof. intros H0 H. destruct (most_attained n f H0) as (i & Hi & ->). auto. Qed.

Lemma least_le n f i : (i < n)%nat -> least n f <= f i.
Proof. intros H. unfold least. pose proof (most_ge n (fun i => - f i) i H). simpl in *. lra. Qed.

Lemma least_attained n f : (0 < n)%nat -> exists i, (i < n)%nat /\ least n f = f i.
Proof. intros H. destruct (most_attained n (fun i => - f i) H) as (i & Hi & E). exists i.
  split; auto. unfold least. rewrite E. ring. Qed.

Lemma square_total_nonneg n f : 0 <= total n (fun i => f i * f i).
Proof. apply total_nonneg. intros. nra. Qed.

Lemma norm_nonneg n f : 0 <= norm n f.
Proof. apply sqrt_pos. Qed.

Lemma norm_square n f : norm n f * norm n f = total n (fun i => f i * f i).
Proof. apply sqrt_sqrt, square_total_nonneg. Qed.

(* The inequality of Cauchy and Schwarz. *)
Lemma cauchy n f g : total n (fun i => f i * g i) <= norm n f * norm n g.
Proof.
  set (p := norm n f). set (q := norm n g).
  assert (P : 0 <= p) by apply norm_nonneg. assert (Q : 0 <= q) by apply norm_nonneg.
  pose proof (norm_square n f) as F. pose proof (norm_square n g) as G. fold p in F. fold q in G.
  assert (S : 0 <= total n (fun i => (q * f i - p * g i) * (q * f i - p * g i)))
    by apply square_total_nonneg.
  replace (total n (fun i => (q * f i - p * g i) * (q * f i - p * g i)))
    with (q * q * total n (fun i => f i * f i) + (- 2 * p * q) * total n (fun i => f i * g i)
          + p * p * total n (fun i => g i * g i)) in S
    by (rewrite <- !total_scal, <- !total_plus; apply total_ext; intros; ring).
  rewrite <- F, <- G in S.
  destruct (Req_dec p 0) as [p0|p0].
  { assert (Z : forall i, (i < n)%nat -> f i = 0).
    { intros i Hi. pose proof (total_term n (fun i => f i * f i) i Hi) as T. simpl in T.
      rewrite <- F, p0 in T. assert (f i * f i <= 0 * 0) by (apply T; intros; nra). nra. }
    rewrite (total_ext n _ (fun _ => 0)) by (intros i Hi; rewrite (Z i Hi); ring).
    rewrite total_const, p0. lra. }
  destruct (Req_dec q 0) as [q0|q0].
  { assert (Z : forall i, (i < n)%nat -> g i = 0).
    { intros i Hi. pose proof (total_term n (fun i => g i * g i) i Hi) as T. simpl in T.
      rewrite <- G, q0 in T. assert (g i * g i <= 0 * 0) by (apply T; intros; nra). nra. }
    rewrite (total_ext n _ (fun _ => 0)) by (intros i Hi; rewrite (Z i Hi); ring).
    rewrite total_const, q0. lra. }
  assert (0 < p * q) by (apply Rmult_lt_0_compat; lra). nra.
Qed.

(* The derivative of a sum. *)
Lemma is_derive_total n (f : nat -> R -> R) df t :
  (forall i, (i < n)%nat -> is_derive (f i) t (df i)) ->
  is_derive (fun u => total n (fun i => f i u)) t (total n df).
Proof. induction n; simpl; intros H; [apply @is_derive_const|].
  apply @is_derive_plus; [apply IHn; intros; apply H; lia|apply H; lia]. Qed.

(* The mean value theorem on [0, 1]: a function whose derivative is at most c gains at most c. *)
Lemma gain (f df : R -> R) c :
  (forall t, is_derive f t (df t)) -> (forall t, df t <= c) -> f 1 - f 0 <= c.
Proof.
  intros D H. destruct (MVT_gen f 0 1 df) as (t & _ & E).
  - intros; apply D.
  - intros t _. apply continuity_pt_filterlim.
    apply (ex_derive_continuous f t). exists (df t). apply D.
  - rewrite E. specialize (H t). lra.
Qed.

Lemma lipschitz (f df : R -> R) c :
  (forall t, is_derive f t (df t)) -> (forall t, Rabs (df t) <= c) ->
  forall x y, Rabs (f x - f y) <= c * Rabs (x - y).
Proof.
  intros D H x y. destruct (MVT_gen f y x df) as (t & _ & E).
  - intros; apply D.
  - intros t _. apply continuity_pt_filterlim, (ex_derive_continuous f t). exists (df t). apply D.
  - rewrite E, Rabs_mult. apply Rmult_le_compat_r; [apply Rabs_pos|apply H].
Qed.

(* If f changes by at most c |x - y|, its derivative is at most c. *)
Lemma slope_of_lipschitz (f : R -> R) x0 l c :
  is_derive f x0 l -> (forall x y, Rabs (f x - f y) <= c * Rabs (x - y)) -> Rabs l <= c.
Proof.
  intros D H. apply is_derive_Reals in D. apply Rnot_lt_le. intros L.
  destruct (D (Rabs l - c)) as (delta & B); [lra|].
  assert (P : 0 < delta / 2) by (destruct delta; simpl; lra).
  assert (S : Rabs (delta / 2) < delta) by (rewrite Rabs_right; destruct delta; simpl in *; lra).
  specialize (B (delta / 2) ltac:(lra) S).
  specialize (H (x0 + delta / 2) x0). replace (x0 + delta / 2 - x0) with (delta / 2) in H by ring.
  set (q := (f (x0 + delta / 2) - f x0) / (delta / 2)) in *.
  assert (Q : Rabs q <= c).
  { unfold q, Rdiv. rewrite Rabs_mult, Rabs_inv. apply Rmult_le_reg_r with (Rabs (delta / 2)).
    - rewrite Rabs_right; lra.
    - rewrite Rmult_assoc, Rinv_l, Rmult_1_r; [exact H|]. rewrite Rabs_right; lra. }
  assert (Rabs l <= Rabs q + Rabs (q - l)).
  { replace l with (q + - (q - l)) at 1 by ring. eapply Rle_trans; [apply Rabs_triang|].
    rewrite Rabs_Ropp. lra. }
  lra.
Qed.

Lemma sqrt2 : sqrt 2 * sqrt 2 = 2 /\ 0 < sqrt 2.
Proof. split; [apply sqrt_sqrt; lra|apply sqrt_lt_R0; lra]. Qed.
