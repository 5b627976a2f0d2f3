(* Multipliers prove what `solves` says of a max-margin programme. *)
Require Import Words.
Arguments Qred : simpl never. Arguments Qplus : simpl never. Arguments Qmult : simpl never.
Arguments Qeq_bool : simpl never. Arguments Qle_bool : simpl never. Arguments Q2R : simpl never.

Lemma R0 : Q2R 0 = 0. Proof. unfold Q2R; simpl; lra. Qed.
Lemma R1 : Q2R 1 = 1. Proof. unfold Q2R; simpl; lra. Qed.
Lemma reduced x : Q2R (Qred x) = Q2R x.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Lemma dot_inner x : forall y, dot (real x) (real y) = Q2R (inner x y).
Proof.
  induction x as [|a x IH]; intros [|b y]; simpl; try (now rewrite R0).
  unfold real in *. now rewrite reduced, Q2R_plus, Q2R_mult, IH.
Qed.

Lemma dot_comm x : forall y, dot x y = dot y x.
Proof. induction x as [|a x IH]; intros [|b y]; simpl; auto. rewrite IH. ring. Qed.

Fixpoint combination (d : nat) (A : mat) (m : vec) : vec :=
  match A, m with
  | a :: A', c :: m' => plus (scaled c a) (combination d A' m')
  | _, _ => repeat 0%Q d
  end.

Lemma dot_zeros d : forall u, dot (real (repeat 0%Q d)) u = 0.
Proof.
  induction d as [|d IH]; intros [|b u]; simpl; auto.
  unfold real in *. rewrite IH, R0. ring.
Qed.

Lemma dot_scaled c a : forall u, dot (real (scaled c a)) u = Q2R c * dot (real a) u.
Proof.
  induction a as [|x a IH]; intros [|b u]; simpl; try ring.
  unfold real, scaled in *. rewrite IH, reduced, Q2R_mult. ring.
Qed.

Lemma dot_plus a : forall b u, length a = length b ->
  dot (real (plus a b)) u = dot (real a) u + dot (real b) u.
Proof.
  induction a as [|x a IH]; intros [|y b] u H; simpl in *; try discriminate; try lra.
  destruct u as [|z u]; simpl; [lra|].
  unfold real, plus in *. rewrite IH by now injection H. rewrite reduced, Q2R_plus. ring.
Qed.

Lemma length_zip {A B C} (f : A -> B -> C) x : forall y, length x = length y ->
  length (zip f x y) = length x.
Proof. induction x as [|a x IH]; intros [|b y] H; simpl in *; try discriminate; auto. Qed.

Definition fits (d : nat) (A : mat) : bool := forallb (fun a => Nat.eqb (length a) d) A.

Lemma length_combination d A : forall m, fits d A = true -> length (combination d A m) = d.
Proof.
  induction A as [|a A IH]; intros [|c m] H; simpl in *; try apply repeat_length.
  apply andb_prop in H as [H1 H2]. apply Nat.eqb_eq in H1.
  unfold plus, scaled. rewrite length_zip; rewrite map_length; auto. now rewrite IH.
Qed.

(* Each multiplier is at least 0, and 0 unless the margin of w is 1. *)
Fixpoint complementary (A : mat) (m w : vec) : bool :=
  match A, m with
  | a :: A', c :: m' => Qle_bool 0 c && (is_0 c || Qeq_bool (inner a w) 1) && complementary A' m' w
  | _, nil => true
  | _, _ => false
  end.

Lemma lower_bound d A : forall m u, fits d A = true -> length u = d ->
  forallb (Qle_bool 0) m = true -> meets A u -> length m = length A ->
  Q2R (fold_right Qplus 0%Q m) <= dot (real (combination d A m)) u.
Proof.
  induction A as [|a A IH]; intros [|c m] u F L P M E; simpl in *; try discriminate.
  - rewrite dot_zeros, R0; lra.
  - apply andb_prop in F as [F1 F2], P as [P1 P2]. inversion M as [|? ? M1 M2]; subst.
    apply Nat.eqb_eq in F1.
    rewrite dot_plus, dot_scaled, Q2R_plus.
    2: unfold scaled; rewrite map_length, length_combination; auto.
    specialize (IH m u F2 eq_refl P2 M2 (eq_add_S _ _ E)).
    apply Qle_bool_iff, Qle_Rle in P1. rewrite R0 in P1. nra.
Qed.

Lemma attained d A : forall m w, fits d A = true -> length w = d -> complementary A m w = true ->
  dot (real (combination d A m)) (real w) = Q2R (fold_right Qplus 0%Q m).
Proof.
  induction A as [|a A IH]; intros [|c m] w F L C; simpl in *; try discriminate;
    try (rewrite dot_zeros, R0; lra).
  apply andb_prop in F as [F1 F2], C as [C C2], C as [_ C1]. apply Nat.eqb_eq in F1.
  rewrite dot_plus, dot_scaled, Q2R_plus, IH, dot_inner; auto.
  2: unfold scaled; rewrite map_length, length_combination; auto.
  apply orb_prop in C1 as [Z|O].
  - apply Qeq_bool_eq, Qeq_eqR in Z. rewrite Z, R0. ring.
  - apply Qeq_bool_eq, Qeq_eqR in O. rewrite O, R1. ring.
Qed.

Lemma dot_same x : forall y u, same x y = true -> dot (real x) u = dot (real y) u.
Proof.
  induction x as [|a x IH]; intros [|b y] [|c u] H; simpl in *; try discriminate; auto.
  apply andb_prop in H as [H1 H2]. apply Qeq_bool_eq, Qeq_eqR in H1.
  unfold real in *. now rewrite H1, (IH y u H2).
Qed.

Definition proves (A : mat) (d : nat) (m : vec) (t : option vec) : bool :=
  fits d A && Nat.eqb (length m) (length A) && forallb (Qle_bool 0) m &&
  match t with
  | None => all_zero (combination d A m) && below 0 (fold_right Qplus 0%Q m)
  | Some w => Nat.eqb (length w) d && same (combination d A m) w && complementary A m w
      && forallb (fun a => Qle_bool 1 (inner a w)) A
  end.

Lemma dot_square u : forall v, length u = length v -> 0 <= dot u u - 2 * dot u v + dot v v.
Proof.
  induction u as [|a u IH]; intros [|b v] H; simpl in *; try discriminate; try lra.
  specialize (IH v (eq_add_S _ _ H)). pose proof (Rle_0_sqr (a - b)). unfold Rsqr in *. lra.
Qed.

Lemma below_lt x y : below x y = true -> Q2R x < Q2R y.
Proof.
  unfold below. intros H. apply Qlt_Rlt. apply Qnot_le_lt. intros L.
  apply Qle_bool_iff in L. now rewrite L in H.
Qed.

Lemma all_zero_dot x : forall u, all_zero x = true -> dot (real x) u = 0.
Proof.
  induction x as [|a x IH]; intros [|b u] H; simpl in *; auto.
  apply andb_prop in H as [H1 H2]. apply Qeq_bool_eq, Qeq_eqR in H1.
  unfold real in *. rewrite H1, R0, IH; auto. ring.
Qed.

Theorem solves_by m A d t : proves A d m t = true -> solves A d t.
Proof.
  unfold proves. intros H. apply andb_prop in H as [H T]. apply andb_prop in H as [H P].
  apply andb_prop in H as [F L]. apply Nat.eqb_eq in L. destruct t as [w|]; simpl.
  - apply andb_prop in T as [T M]. apply andb_prop in T as [T C]. apply andb_prop in T as [D S].
    apply Nat.eqb_eq in D. split; [exact D|]. split.
    + apply Forall_forall. intros a I. rewrite forallb_forall in M. specialize (M a I).
      rewrite dot_inner. apply Qle_bool_iff, Qle_Rle in M. now rewrite R1 in M.
    + intros u E U. pose proof (lower_bound d A m u F E P U L) as B.
      rewrite (dot_same _ _ u S) in B.
      pose proof (attained d A m w F D C) as V. rewrite (dot_same _ _ (real w) S) in V.
      assert (Z : length u = length (real w)) by (unfold real; rewrite map_length; congruence).
      pose proof (dot_square u (real w) Z) as W. rewrite (dot_comm u (real w)) in W. lra.
  - apply andb_prop in T as [Z Q]. intros u E U.
    pose proof (lower_bound d A m u F E P U L) as B.
    rewrite all_zero_dot in B by auto. apply below_lt in Q. rewrite R0 in Q. lra.
Qed.
