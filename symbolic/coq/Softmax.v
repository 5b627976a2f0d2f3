(* Softmax: its weights, means and covariances, and Lipschitz bounds of a mean in the logits. *)
From Coquelicot Require Import Coquelicot.
Require Import Prelude Lemmas.

Section Weights.
Variables (n : nat) (p : nat -> R).
Hypothesis nonneg : forall i, (i < n)%nat -> 0 <= p i.
Hypothesis one : total n p = 1.

Definition mean (u : nat -> R) : R := total n (fun i => p i * u i).

Lemma mean_le u c : (forall i, (i < n)%nat -> u i <= c) -> mean u <= c.
Proof.
  intros H. unfold mean. apply Rle_trans with (total n (fun i => c * p i)).
  - apply total_le. intros i Hi. specialize (H i Hi). specialize (nonneg i Hi). nra.
  - rewrite total_scal, one. lra.
Qed.

Lemma mean_ge u c : (forall i, (i < n)%nat -> c <= u i) -> c <= mean u.
Proof.
  intros H. unfold mean. apply Rle_trans with (total n (fun i => c * p i)).
  - rewrite total_scal, one. lra.
  - apply total_le. intros i Hi. specialize (H i Hi). specialize (nonneg i Hi). nra.
Qed.

Definition cov (u v : nat -> R) : R := mean (fun i => u i * v i) - mean u * mean v.

Lemma mean_linear a b u v : mean (fun i => a * u i + b * v i) = a * mean u + b * mean v.
Proof. unfold mean. rewrite <- !total_scal, <- total_plus. apply total_ext. intros; ring. Qed.

Lemma mean_const c : mean (fun _ => c) = c.
Proof. unfold mean. rewrite (total_ext n _ (fun i => c * p i)) by (intros; ring).
  rewrite total_scal, one. ring. Qed.

(* A variance is at most a quarter of the squared range. *)
Lemma variance_le u a b : (forall i, (i < n)%nat -> a <= u i <= b) ->
  cov u u <= (b - a) * (b - a) / 4.
Proof.
  intros H.
  assert (P : 0 <= mean (fun i => (b - u i) * (u i - a))).
  { apply mean_ge. intros i Hi. specialize (H i Hi). apply Rmult_le_pos; lra. }
  replace (mean (fun i => (b - u i) * (u i - a)))
    with ((b + a) * mean u + - (1) * mean (fun i => u i * u i) - a * b) in P.
  - unfold cov. set (c := mean u) in *. set (e := mean (fun i => u i * u i)) in *.
    pose proof (Rle_0_sqr (2 * c - a - b)) as Q. unfold Rsqr in Q. lra.
  - rewrite <- mean_linear. replace (a * b) with (mean (fun _ => a * b)) by apply mean_const.
    unfold mean. rewrite <- total_minus. apply total_ext. intros; ring.
Qed.

Lemma cov_square a b u v :
  cov (fun i => a * u i - b * v i) (fun i => a * u i - b * v i)
  = a * a * cov u u - 2 * a * b * cov u v + b * b * cov v v.
Proof.
  unfold cov.
  replace (mean (fun i => a * u i - b * v i)) with (a * mean u - b * mean v)
    by (replace (a * mean u - b * mean v) with (a * mean u + - b * mean v) by ring;
        rewrite <- mean_linear; unfold mean; apply total_ext; intros; ring).
  replace (mean (fun i => (a * u i - b * v i) * (a * u i - b * v i)))
    with (a * a * mean (fun i => u i * u i) - 2 * a * b * mean (fun i => u i * v i)
          + b * b * mean (fun i => v i * v i)).
  - ring.
  - unfold mean. rewrite <- !total_scal, <- total_minus, <- total_plus.
    apply total_ext. intros; ring.
Qed.

Lemma cov_nonneg u : 0 <= cov u u.
Proof.
  assert (P : 0 <= mean (fun i => (u i - mean u) * (u i - mean u))).
  { apply mean_ge. intros. apply Rle_0_sqr. }
  replace (mean (fun i => (u i - mean u) * (u i - mean u))) with (cov u u) in P; [exact P|].
  unfold cov. set (c := mean u).
  replace (mean (fun i => u i * u i) - c * c)
    with (1 * mean (fun i => u i * u i) + (- 2 * c) * mean u + c * c) by (fold c; ring).
  rewrite <- mean_linear. replace (c * c) with (mean (fun _ => c * c)) by apply mean_const.
  unfold mean. rewrite <- total_plus. apply total_ext. intros; ring.
Qed.

(* The covariance of u and v is at most a quarter of the product of their ranges U and V. *)
Lemma cov_le u v U V :
  0 <= U -> 0 <= V -> (0 < n)%nat ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> u i - u j <= U) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> v i - v j <= V) ->
  cov u v <= U * V / 4.
Proof.
  intros U0 V0 N HU HV.
  assert (var : forall w W, (forall i j, (i < n)%nat -> (j < n)%nat -> w i - w j <= W) ->
    cov w w <= W * W / 4).
  { intros w W HW. destruct (least_attained n w N) as (i & Hi & E).
    replace W with (w i + W - w i) by ring. apply variance_le. intros j Hj.
    pose proof (least_le n w j Hj). specialize (HW j i Hj Hi). lra. }
  assert (const : forall w, (forall i j, (i < n)%nat -> (j < n)%nat -> w i - w j <= 0) ->
    forall i, (i < n)%nat -> w i = w 0%nat).
  { intros w HW i Hi. pose proof (HW i 0%nat Hi N). pose proof (HW 0%nat i N Hi). lra. }
  destruct (Req_dec U 0) as [->|].
  { unfold cov, mean. rewrite (total_ext n (fun i => p i * (u i * v i))
      (fun i => u 0%nat * (p i * v i))) by (intros i Hi; rewrite (const u HU i Hi); ring).
    rewrite (total_ext n (fun i => p i * u i) (fun i => u 0%nat * p i))
      by (intros i Hi; rewrite (const u HU i Hi); ring).
    rewrite !total_scal, one. lra. }
  destruct (Req_dec V 0) as [->|].
  { unfold cov, mean. rewrite (total_ext n (fun i => p i * (u i * v i))
      (fun i => v 0%nat * (p i * u i))) by (intros i Hi; rewrite (const v HV i Hi); ring).
    rewrite (total_ext n (fun i => p i * v i) (fun i => v 0%nat * p i))
      by (intros i Hi; rewrite (const v HV i Hi); ring).
    rewrite !total_scal, one. lra. }
  pose proof (var u U HU) as A. pose proof (var v V HV) as B.
  pose proof (cov_nonneg (fun i => V * u i - U * v i)) as C. rewrite cov_square in C.
  assert (P : 0 < U * V) by (apply Rmult_lt_0_compat; lra).
  assert (V * V * cov u u <= V * V * (U * U / 4)) by (apply Rmult_le_compat_l; [nra|exact A]).
  assert (U * U * cov v v <= U * U * (V * V / 4)) by (apply Rmult_le_compat_l; [nra|exact B]).
  apply Rmult_le_reg_l with (2 * (U * V)); [lra|]. nra.
Qed.
End Weights.

Lemma exponentials_pos n s : (0 < n)%nat -> 0 < total n (fun j => exp (s j)).
Proof. intros N. apply total_pos; [exact N|]. intros. apply exp_pos. Qed.

Lemma softmax_pos n s i : (0 < n)%nat -> 0 < softmax n s i.
Proof. intros N. apply Rdiv_lt_0_compat; [apply exp_pos|now apply exponentials_pos]. Qed.

Lemma softmax_one n s : (0 < n)%nat -> total n (softmax n s) = 1.
Proof.
  intros N. unfold softmax. pose proof (exponentials_pos n s N).
  rewrite (total_ext n _ (fun i => / total n (fun j => exp (s j)) * exp (s i)))
    by (intros; unfold Rdiv; ring).
  rewrite total_scal. field. lra.
Qed.

Lemma softmax_lt_one n s i : (1 < n)%nat -> (i < n)%nat -> softmax n s i < 1.
Proof.
  intros N Hi. rewrite <- (softmax_one n s) by lia.
  assert (exists j, (j < n)%nat /\ j <> i) as (j & Hj & ne).
  { destruct i; [exists 1%nat|exists 0%nat]; lia. }
  assert (P := softmax_pos n s j ltac:(lia)).
  assert (softmax n s i + softmax n s j <= total n (softmax n s)); [|lra].
  set (g := fun k => if Nat.eq_dec k j then 0 else softmax n s k).
  assert (G : forall k, (k < n)%nat -> 0 <= g k).
  { intros k Hk. unfold g. destruct (Nat.eq_dec k j); [lra|].
    apply Rlt_le, softmax_pos; lia. }
  pose proof (total_term n g i Hi G) as T.
  replace (g i) with (softmax n s i) in T by (unfold g; destruct (Nat.eq_dec i j); congruence).
  set (h := fun k => if Nat.eq_dec k j then softmax n s j else 0).
  assert (Hh : softmax n s j <= total n h).
  { replace (softmax n s j) with (h j) at 1 by (unfold h; destruct (Nat.eq_dec j j); congruence).
    apply total_term; [exact Hj|]. intros k _. unfold h. destruct (Nat.eq_dec k j); lra. }
  replace (total n (softmax n s)) with (total n g + total n h); [lra|].
  rewrite <- total_plus. apply total_ext. intros k _. unfold g, h.
  destruct (Nat.eq_dec k j); [subst; ring|ring].
Qed.

Lemma softmax_ext n s r : (forall i, (i < n)%nat -> s i = r i) ->
  forall i, (i < n)%nat -> softmax n s i = softmax n r i.
Proof.
  intros H i Hi. unfold softmax. rewrite (H i Hi).
  rewrite (total_ext n (fun j => exp (s j)) (fun j => exp (r j))); [reflexivity|].
  intros j Hj. now rewrite (H j Hj).
Qed.

(* The mean of u at logits b + a exceeds that at b by at most U V/4, if u has the range U and a the
   range V. Its derivative along the segment is the covariance of u and a. *)
Lemma softmax_gain n b a u U V :
  (0 < n)%nat -> 0 <= U -> 0 <= V ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> u i - u j <= U) ->
  (forall i j, (i < n)%nat -> (j < n)%nat -> a i - a j <= V) ->
  total n (fun i => u i * softmax n (fun k => b k + a k) i)
    - total n (fun i => u i * softmax n b i) <= U * V / 4.
Proof.
  intros N U0 V0 HU HV.
  set (s := fun t k => b k + t * a k).
  set (D := fun t => total n (fun k => exp (s t k))).
  assert (DP : forall t, 0 < D t) by (intros t; now apply exponentials_pos).
  set (F := fun t => total n (fun i => u i * exp (s t i)) / D t).
  assert (E : forall t, total n (fun i => u i * softmax n (s t) i) = F t).
  { intros t. unfold F, softmax. fold (D t). pose proof (DP t).
    rewrite (total_ext n _ (fun i => / D t * (u i * exp (s t i))))
      by (intros; unfold Rdiv; ring). rewrite total_scal. unfold Rdiv. ring. }
  replace (total n (fun i => u i * softmax n (fun k => b k + a k) i)) with (F 1).
  2:{ rewrite <- E. apply total_ext. intros i Hi. f_equal. apply softmax_ext; [|exact Hi].
      intros; unfold s; ring. }
  replace (total n (fun i => u i * softmax n b i)) with (F 0).
  2:{ rewrite <- E. apply total_ext. intros i Hi. f_equal. apply softmax_ext; [|exact Hi].
      intros; unfold s; ring. }
  apply (gain F (fun t => cov n (softmax n (s t)) u a)).
  - intros t. unfold F.
    assert (d1 : is_derive (fun r => total n (fun i => u i * exp (s r i))) t
      (total n (fun i => u i * (a i * exp (s t i))))).
    { apply is_derive_total. intros i _. unfold s. auto_derive; [exact I|ring]. }
    assert (d2 : is_derive D t (total n (fun i => a i * exp (s t i)))).
    { unfold D. apply (is_derive_total n (fun i r => exp (s r i))). intros i _. unfold s.
      auto_derive; [exact I|ring]. }
    assert (d3 := is_derive_div _ _ _ _ _ d1 d2 (Rgt_not_eq _ _ (DP t))).
    replace (cov n (softmax n (s t)) u a) with
      ((total n (fun i => u i * (a i * exp (s t i))) * D t
        - total n (fun i => u i * exp (s t i)) * total n (fun i => a i * exp (s t i))) / D t ^ 2);
      [exact d3|].
    unfold cov, mean, softmax. fold (D t). pose proof (DP t).
    rewrite (total_ext n (fun i => exp (s t i) / D t * (u i * a i))
      (fun i => / D t * (u i * (a i * exp (s t i))))) by (intros; unfold Rdiv; ring).
    rewrite (total_ext n (fun i => exp (s t i) / D t * u i)
      (fun i => / D t * (u i * exp (s t i)))) by (intros; unfold Rdiv; ring).
    rewrite (total_ext n (fun i => exp (s t i) / D t * a i)
      (fun i => / D t * (a i * exp (s t i)))) by (intros; unfold Rdiv; ring).
    rewrite !total_scal. field. lra.
  - intros t. apply cov_le; try assumption.
    + intros; apply Rlt_le, softmax_pos; lia.
    + now apply softmax_one.
Qed.

(* Two logits of A x differ by at most the largest distance of rows times ||x||. *)
Lemma logits_differ n d A x i j : (i < n)%nat -> (j < n)%nat ->
  times d A x i - times d A x j <= diameter n d A * norm d x.
Proof.
  intros Hi Hj. unfold times. rewrite <- total_minus.
  rewrite (total_ext d _ (fun k => (A i k - A j k) * x k)) by (intros; ring).
  eapply Rle_trans; [apply cauchy|]. apply Rmult_le_compat_r; [apply norm_nonneg|].
  unfold diameter. eapply Rle_trans; [|apply most_ge with (i := i); exact Hi].
  apply (most_ge n (fun j => norm d (fun k => A i k - A j k)) j Hj).
Qed.

Lemma diameter_nonneg n d A : (0 < n)%nat -> 0 <= diameter n d A.
Proof.
  intros N. unfold diameter. eapply Rle_trans; [|apply most_ge with (i := 0%nat); exact N].
  eapply Rle_trans; [|apply most_ge with (i := 0%nat); exact N]. apply norm_nonneg.
Qed.

Lemma times_minus d A x y i :
  times d A x i = times d A y i + times d A (fun k => x k - y k) i.
Proof. unfold times. rewrite <- total_plus. apply total_ext. intros; ring. Qed.

(* The mean of values u of range U, under softmax of A x, is Lipschitz in x with U diameter(A)/4. *)
Lemma mean_lipschitz n d A x y u U :
  (0 < n)%nat -> 0 <= U -> (forall i j, (i < n)%nat -> (j < n)%nat -> u i - u j <= U) ->
  total n (fun i => u i * softmax n (times d A x) i)
    - total n (fun i => u i * softmax n (times d A y) i)
  <= U * (diameter n d A * norm d (fun k => x k - y k)) / 4.
Proof.
  intros N U0 HU.
  replace (total n (fun i => u i * softmax n (times d A x) i)) with
    (total n (fun i => u i * softmax n (fun k => times d A y k + times d A (fun k => x k - y k) k) i)).
  - apply softmax_gain; try assumption.
    + apply Rmult_le_pos; [now apply diameter_nonneg|apply norm_nonneg].
    + intros. now apply logits_differ.
  - apply total_ext. intros i Hi. f_equal. apply softmax_ext; [|exact Hi].
    intros. now rewrite <- times_minus.
Qed.

Lemma unit_range n u i j : (i < n)%nat -> (j < n)%nat -> u i - u j <= sqrt 2 * norm n u.
Proof.
  intros Hi Hj. destruct sqrt2 as (S & SP).
  destruct (Nat.eq_dec i j) as [->|ne].
  { replace (u j - u j) with 0 by ring. apply Rmult_le_pos; [lra|apply norm_nonneg]. }
  apply Rsqr_incr_0_var; [|apply Rmult_le_pos; [lra|apply norm_nonneg]].
  unfold Rsqr. replace (sqrt 2 * norm n u * (sqrt 2 * norm n u))
    with (2 * (norm n u * norm n u)) by (rewrite <- S at 1; ring).
  rewrite norm_square.
  set (g := fun k => if Nat.eq_dec k j then 0 else u k * u k).
  set (h := fun k => if Nat.eq_dec k j then u j * u j else 0).
  assert (E : total n (fun k => u k * u k) = total n g + total n h).
  { rewrite <- total_plus. apply total_ext. intros k _. unfold g, h.
    destruct (Nat.eq_dec k j); [subst; ring|ring]. }
  assert (G : u i * u i <= total n g).
  { replace (u i * u i) with (g i) by (unfold g; destruct (Nat.eq_dec i j); congruence).
    apply total_term; [exact Hi|]. intros k _. unfold g. destruct (Nat.eq_dec k j); nra. }
  assert (H : u j * u j <= total n h).
  { replace (u j * u j) with (h j) by (unfold h; destruct (Nat.eq_dec j j); congruence).
    apply total_term; [exact Hj|]. intros k _. unfold h. destruct (Nat.eq_dec k j); nra. }
  rewrite E. pose proof (Rle_0_sqr (u i + u j)) as Q. unfold Rsqr in Q. nra.
Qed.

Lemma mean_lipschitz_abs n d A x y u U :
  (0 < n)%nat -> 0 <= U -> (forall i j, (i < n)%nat -> (j < n)%nat -> u i - u j <= U) ->
  Rabs (total n (fun i => softmax n (times d A x) i * u i)
    - total n (fun i => softmax n (times d A y) i * u i))
  <= sqrt 2 / 4 * U * spread n d A * norm d (fun k => x k - y k).
Proof.
  intros N U0 HU. destruct sqrt2 as (S & SP). unfold spread.
  replace (sqrt 2 / 4 * U * (diameter n d A / sqrt 2) * norm d (fun k => x k - y k))
    with (U * (diameter n d A * norm d (fun k => x k - y k)) / 4) by (field; lra).
  rewrite (total_ext n (fun i => softmax n (times d A x) i * u i)
    (fun i => u i * softmax n (times d A x) i)) by (intros; ring).
  rewrite (total_ext n (fun i => softmax n (times d A y) i * u i)
    (fun i => u i * softmax n (times d A y) i)) by (intros; ring).
  pose proof (mean_lipschitz n d A x y u U N U0 HU).
  pose proof (mean_lipschitz n d A y x u U N U0 HU) as B.
  replace (norm d (fun k => y k - x k)) with (norm d (fun k => x k - y k)) in B
    by (unfold norm; f_equal; apply total_ext; intros; ring).
  apply Rabs_le. lra.
Qed.

Lemma oscillation_ge n h i j : (i < n)%nat -> (j < n)%nat -> h i - h j <= oscillation n h.
Proof. intros Hi Hj. unfold oscillation. pose proof (most_ge n h i Hi).
  pose proof (least_le n h j Hj). lra. Qed.

(* The mean of values under softmax lies between the least and the largest value. *)
Lemma mean_between n s u : (0 < n)%nat ->
  least n u <= total n (fun i => softmax n s i * u i) <= most n u.
Proof.
  intros N. split.
  - apply (mean_ge n (softmax n s)); [intros; apply Rlt_le, softmax_pos; lia|now apply softmax_one|].
    intros. now apply least_le.
  - apply (mean_le n (softmax n s)); [intros; apply Rlt_le, softmax_pos; lia|now apply softmax_one|].
    intros. now apply most_ge.
Qed.
