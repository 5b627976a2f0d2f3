(* What is true of each loss of Words.v, and of the length of a step. *)
From Coquelicot Require Import Coquelicot.
Require Import Words Solutions.

Lemma falls l f : (forall u, derivable_pt_lim (value l) u (f u)) -> (forall u, f u < 0) ->
  strictly_decreasing l.
Proof.
  intros D N u t H.
  destruct (MVT_cor2 (value l) f u t H) as [c [E _]]; [intros; apply D|].
  assert (P : 0 < - f c * (t - u)) by (apply Rmult_lt_0_compat; specialize (N c); lra). lra.
Qed.

Lemma log_loss_derivative u : derivable_pt_lim (value log_loss) u (slope log_loss u).
Proof.
  apply is_derive_Reals. cbv [value slope]. pose proof (exp_pos u). pose proof (exp_pos (- u)).
  evar_last.
  - apply (is_derive_comp ln (fun x => 1 + exp (- x)) u (/ (1 + exp (- u))) (- exp (- u))).
    + apply is_derive_ln. lra.
    + auto_derive; [auto|ring].
  - unfold scal. simpl. unfold mult. simpl. rewrite exp_Ropp. field. lra.
Qed.

Lemma exponential_derivative u : derivable_pt_lim (value exponential) u (slope exponential u).
Proof. apply is_derive_Reals. cbv [value slope]. auto_derive; [auto|ring]. Qed.

Lemma correlation_derivative u : derivable_pt_lim (value correlation) u (slope correlation u).
Proof. apply is_derive_Reals. cbv [value slope]. auto_derive; [auto|ring]. Qed.

Lemma cubic_derivative u : derivable_pt_lim (value cubic) u (slope cubic u).
Proof. apply is_derive_Reals. cbv [value slope]. auto_derive; [auto|ring]. Qed.

Lemma logistic_loss_derivative u : derivable_pt_lim (value logistic_loss) u (slope logistic_loss u).
Proof.
  apply is_derive_Reals. cbv [value slope]. pose proof (exp_pos u). pose proof (exp_pos (- u)).
  auto_derive; [repeat split; lra|]. rewrite exp_Ropp. field. split; nra.
Qed.

Lemma logistic_score_derivative u : derivable_pt_lim (value logistic_score) u (slope logistic_score u).
Proof.
  apply is_derive_Reals. cbv [value slope]. pose proof (exp_pos u). pose proof (exp_pos (- u)).
  auto_derive; [repeat split; lra|]. rewrite exp_Ropp. field. split; nra.
Qed.

Lemma steady l g : (forall u, derivable_pt_lim (slope l) u (g u)) -> continuity (slope l).
Proof. intros D u. apply derivable_continuous_pt. exists (g u). apply D. Qed.

Ltac slopes :=
  match goal with |- continuity (slope ?l) => apply (steady l (Derive (slope l))) end;
  intros u; apply is_derive_Reals, Derive_correct; cbv [slope]; auto_derive;
  pose proof (exp_pos u); pose proof (exp_pos (- u)); repeat split; try lra.

Lemma sloped_by l : continuity (slope l) -> (forall u, derivable_pt_lim (value l) u (slope l u)) ->
  (forall u, slope l u < 0) -> sloped l /\ smooth l /\ strictly_decreasing l.
Proof.
  intros C D N. split; [|split].
  - exists (slope l). split; auto.
  - exists (slope l). auto.
  - now apply falls with (slope l).
Qed.

Lemma negative x : 0 < x -> - x < 0. Proof. lra. Qed.

Lemma log_loss_sloped : sloped log_loss /\ smooth log_loss /\ strictly_decreasing log_loss.
Proof.
  apply sloped_by; [slopes|apply log_loss_derivative|]. intros u. simpl.
  pose proof (exp_pos u).
  assert (0 < / (1 + exp u)) by (apply Rinv_0_lt_compat; lra). unfold Rdiv. lra.
Qed.

Lemma exponential_sloped : sloped exponential /\ smooth exponential /\ strictly_decreasing exponential.
Proof.
  apply sloped_by; [slopes|apply exponential_derivative|]. intros u. simpl. apply negative, exp_pos.
Qed.

Lemma correlation_sloped : sloped correlation /\ smooth correlation /\ strictly_decreasing correlation.
Proof. apply sloped_by; [slopes|apply correlation_derivative|]. intros u. simpl. lra. Qed.

Lemma logistic_loss_sloped :
  sloped logistic_loss /\ smooth logistic_loss /\ strictly_decreasing logistic_loss.
Proof.
  apply sloped_by; [slopes|apply logistic_loss_derivative|]. intros u. simpl.
  pose proof (exp_pos u). pose proof (exp_pos (- u)).
  unfold Rdiv. rewrite Rmult_1_l. apply negative, Rinv_0_lt_compat. lra.
Qed.

Lemma cubic_smooth : smooth cubic.
Proof. exists (slope cubic). split; [slopes|apply cubic_derivative]. Qed.

Lemma logistic_score_smooth : smooth logistic_score.
Proof. exists (slope logistic_score). split; [slopes|apply logistic_score_derivative]. Qed.

Lemma cubic_falls : strictly_decreasing cubic.
Proof.
  intros u t H. cbv [value].
  assert (P : 0 < (t + u / 2) * (t + u / 2) + 3 / 4 * (u * u)).
  - pose proof (Rle_0_sqr (t + u / 2)). unfold Rsqr in *.
    destruct (Req_dec u 0) as [->|N]; [nra|]. pose proof (Rsqr_pos_lt u N). unfold Rsqr in *. lra.
  - pose proof (Rmult_lt_0_compat (t - u) _ ltac:(lra) P). lra.
Qed.

Lemma kinked_falls : strictly_decreasing kinked.
Proof. intros u t H. simpl. unfold Rmax. repeat destruct Rle_dec; lra. Qed.

Lemma hinge_falls : decreasing hinge.
Proof. intros u t H. simpl. unfold Rmax. repeat destruct Rle_dec; lra. Qed.

Lemma squared_hinge_falls : decreasing squared_hinge.
Proof.
  intros u t H. pose proof (hinge_falls u t H) as L. cbv [value] in *.
  apply Rmult_le_compat; auto using Rmax_l.
Qed.

Lemma strictly l : strictly_decreasing l -> decreasing l.
Proof. intros S u t H. left. now apply S. Qed.

Ltac decide_loss :=
  lazymatch goal with |- ?word ?l => let v := eval vm_compute in l in change (word v) end;
  try match goal with |- decreasing hinge => exact hinge_falls
    | |- decreasing squared_hinge => exact squared_hinge_falls
    | |- decreasing _ => apply strictly end;
  first [exact cubic_smooth | exact logistic_score_smooth | exact cubic_falls | exact kinked_falls
    | apply log_loss_sloped | apply exponential_sloped | apply correlation_sloped
    | apply logistic_loss_sloped].

(* The Frobenius norm bounds the spectral norm. *)
Lemma cauchy_schwarz a : forall v, dot a v * dot a v <= dot a a * dot v v.
Proof.
  assert (P : forall x, 0 <= dot x x) by (induction x as [|y x IH]; simpl; [lra|nra]).
  induction a as [|x a IH]; intros [|y v]; simpl; try nra.
  specialize (IH v). pose proof (P a) as X. pose proof (P v) as V.
  set (s := dot a v) in *. set (A := dot a a) in *. set (B := dot v v) in *.
  assert (2 * (x * y) * s <= x * x * B + y * y * A); [|nra].
  destruct (Req_dec B 0) as [Z|N].
  - assert (s = 0) by nra. subst s. nra.
  - pose proof (Rle_0_sqr (x * B - y * s)) as S. unfold Rsqr in S.
    assert (T : 0 <= y * y * (A * B - s * s)).
    { apply Rmult_le_pos; [apply Rle_0_sqr|lra]. }
    apply Rmult_le_reg_l with B; lra.
Qed.

Definition frobenius (i : input) : R :=
  sqrt (sum (map (fun x => dot (real x) (real x)) (centred i))).

Lemma frobenius_reaches i : reaches i (frobenius i).
Proof.
  split; [apply sqrt_pos|]. intros v _. unfold frobenius.
  rewrite sqrt_sqrt.
  - induction (centred i) as [|x A IH]; simpl.
    + lra.
    + pose proof (cauchy_schwarz (real x) v). nra.
  - induction (centred i) as [|x A IH]; simpl; [lra|].
    assert (0 <= dot (real x) (real x)); [|lra].
    induction (real x); simpl; [lra|nra].
Qed.

Lemma short_by factor D l step :
  factor * Q2R step * (sum (zip (bend l) D (map frobenius D)) / INR (length D)) <= 1 ->
  short factor D l step.
Proof.
  intros H. exists (map frobenius D). split; [|exact H].
  clear. induction D; simpl; constructor; auto. apply frobenius_reaches.
Qed.
