(* The mean of values h under softmax(A x) is Lipschitz in x with sqrt(2)/4 osc(h) spread(A), and
   with no smaller constant; osc(h) is the largest value less the least. *)
Require Import Prelude Statements Lemmas Softmax Pair.

Theorem sharp : sim_basic_5_sharp.
Proof.
  intros n D A x y h b N _.
  set (p := total n (fun i => softmax n (times D A x) i * h i)).
  set (q := total n (fun i => softmax n (times D A y) i * h i)).
  replace (p - b - (q - b)) with (p - q) by ring.
  apply mean_lipschitz_abs; [lia| |].
  - pose proof (oscillation_ge n h 0%nat 0%nat ltac:(lia) ltac:(lia)). lra.
  - intros. now apply oscillation_ge.
Qed.

Theorem sharp_tight : sim_basic_5_sharp_tight.
Proof.
  intros share L. destruct (pair_steep share L) as (x & y & H). destruct sqrt2 as (S & SP).
  exists 2%nat, 1%nat, pair, (fun _ => x), (fun _ => y), (fun i => pair i 0%nat), 0.
  repeat split; [lia|lia|].
  rewrite pair_spread, norm_one. unfold oscillation, least. simpl.
  rewrite !pair_first, !pair_second. rewrite Rmax_left, Rmax_right by lra.
  set (a := logistic (2 * x)) in *. set (b := logistic (2 * y)) in *.
  replace (0 + a * 1 + (1 - a) * -1 - 0 - (0 + b * 1 + (1 - b) * -1 - 0)) with (2 * (a - b))
    by ring.
  rewrite Rabs_mult, (Rabs_right 2) by lra.
  replace (share * (sqrt 2 / 4 * (1 - - - -1) * sqrt 2 * Rabs (x - y)))
    with (share * (sqrt 2 * sqrt 2 / 2 * Rabs (x - y))) by field.
  rewrite S. replace (2 / 2) with 1 by field. lra.
Qed.
