(* Two tokens of opposite sign on a line: the data for which the Lipschitz constants are sharp. *)
Require Import Prelude Lemmas Softmax Logistic.

(* Two tokens 1 and -1 on a line: the weights are 1/(1 + exp(-2 x)) and 1/(1 + exp(2 x)). *)
Definition pair (i j : nat) : R := match i with O => 1 | S _ => - 1 end.

Lemma pair_first x : softmax 2 (times 1 pair (fun _ => x)) 0 = logistic (2 * x).
Proof.
  unfold softmax, times, logistic. simpl. rewrite !Rplus_0_l, !Rmult_1_l.
  replace (-1 * x) with (x + - (2 * x)) by ring. rewrite exp_plus.
  pose proof (exp_pos x). pose proof (exp_pos (- (2 * x))).
  field. split; apply Rgt_not_eq; [lra|]. apply Rplus_lt_0_compat; [assumption|].
  now apply Rmult_lt_0_compat.
Qed.

Lemma pair_second x : softmax 2 (times 1 pair (fun _ => x)) 1 = 1 - logistic (2 * x).
Proof.
  pose proof (softmax_one 2 (times 1 pair (fun _ => x)) ltac:(lia)) as E. simpl in E.
  rewrite pair_first in E. lra.
Qed.

Lemma norm_one f : norm 1 f = Rabs (f 0%nat).
Proof. unfold norm. simpl. rewrite Rplus_0_l. apply sqrt_Rsqr_abs. Qed.

Lemma pair_spread : spread 2 1 pair = sqrt 2.
Proof.
  destruct sqrt2 as (S & SP). unfold spread, diameter. simpl. rewrite !norm_one. simpl.
  replace (1 - 1) with 0 by ring. replace (1 - -1) with 2 by ring.
  replace (-1 - 1) with (-2) by ring. replace (-1 - -1) with 0 by ring.
  rewrite Rabs_R0. rewrite (Rabs_right 2) by lra. rewrite (Rabs_left (-2)) by lra.
  replace (- -2) with 2 by ring. rewrite (Rmax_right 0 2), (Rmax_left 2 0), (Rmax_left 2 2) by lra.
  apply Rmult_eq_reg_r with (sqrt 2); [|lra]. rewrite S. field. lra.
Qed.

(* For every share < 1 some x and y have |g(2 x) - g(2 y)| > share |x - y|/2, g the logistic
   function. *)
Lemma pair_steep share : share < 1 -> exists x y,
  share * (1 / 2 * Rabs (x - y)) < Rabs (logistic (2 * x) - logistic (2 * y)).
Proof.
  intros L. destruct (logistic_tight share L) as (x & y & H). exists (x / 2), (y / 2).
  replace (2 * (x / 2)) with x by field. replace (2 * (y / 2)) with y by field.
  replace (x / 2 - y / 2) with ((x - y) / 2) by field.
  unfold Rdiv at 2. rewrite Rabs_mult, (Rabs_right (/ 2)) by lra. lra.
Qed.
