(* The sum of n changes is at most sqrt(n) times their norm; Lagrange's identity. *)
Require Import Prelude Statements Lemmas Softmax.

Theorem literal_1 : sim_basic_2_literal_1.
Proof.
  intros n D A x y N _. set (w := fun i => exp (times D A x i) - exp (times D A y i)).
  assert (C : forall f, total n f <= sqrt (INR n) * norm n f).
  { intros f. pose proof (cauchy n (fun _ => 1) f) as C.
    rewrite (total_ext n _ f) in C by (intros; ring).
    replace (norm n (fun _ => 1)) with (sqrt (INR n)) in C; [exact C|].
    unfold norm. rewrite total_const. f_equal. ring. }
  apply Rabs_le. split; [|apply C].
  assert (B := C (fun i => - w i)). rewrite total_opp in B.
  replace (norm n (fun i => - w i)) with (norm n w) in B.
  - lra.
  - unfold norm. f_equal. apply total_ext. intros; ring.
Qed.

Theorem sharp : sim_basic_2_sharp.
Proof.
  intros n D A x y N _. set (w := fun i => exp (times D A x i) - exp (times D A y i)).
  change (INR n * total n (fun i => w i * w i) - total n w * total n w
    = 1 * total n (fun i => total n (fun j => (w i - w j) * (w i - w j))) / 2).
  rewrite (total_ext n (fun i => total n (fun j => (w i - w j) * (w i - w j)))
    (fun i => (INR n * (w i * w i) + - 2 * total n w * w i) + total n (fun j => w j * w j))).
  - rewrite !total_plus, !total_scal, total_const. field.
  - intros i _. rewrite <- total_const. replace (-2 * total n w * w i) with (-2 * w i * total n w) by ring. rewrite <- total_scal, <- !total_plus.
    apply total_ext. intros; ring.
Qed.
