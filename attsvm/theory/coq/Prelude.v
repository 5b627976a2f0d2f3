(* The definitions that the generated statements use.  Indices run from 0; an array is a function
   of its indices, of which only those below its lengths matter. *)
Require Export Reals Lra Lia.
Open Scope R_scope.

(* The sum of f i for i < n. *)
Fixpoint total (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => total k f + f k end.

(* The largest f i for i < n, for n > 0. *)
Fixpoint most (n : nat) (f : nat -> R) : R :=
  match n with O => 0 | S k => match k with O => f O | S _ => Rmax (most k f) (f k) end end.

(* The least f i for i < n, for n > 0. *)
Definition least (n : nat) (f : nat -> R) : R := - most n (fun i => - f i).

(* The Euclidean norm. *)
Definition norm (n : nat) (f : nat -> R) : R := sqrt (total n (fun i => f i * f i)).

(* A matrix with d columns, times a vector. *)
Definition times (d : nat) (A : nat -> nat -> R) (x : nat -> R) (i : nat) : R :=
  total d (fun k => A i k * x k).

(* The largest distance of two of the n rows of a matrix with d columns. *)
Definition diameter (n d : nat) (A : nat -> nat -> R) : R :=
  most n (fun i => most n (fun j => norm d (fun k => A i k - A j k))).

Definition softmax (n : nat) (s : nat -> R) (i : nat) : R :=
  exp (s i) / total n (fun j => exp (s j)).

Definition logistic (x : R) : R := 1 / (1 + exp (- x)).

Definition logistic_slope (x : R) : R := exp (- x) / ((1 + exp (- x)) * (1 + exp (- x))).

Definition oscillation (n : nat) (f : nat -> R) : R := most n f - least n f.

Definition spread (n d : nat) (A : nat -> nat -> R) : R := diameter n d A / sqrt 2.

(* 1 at 0, and 0 elsewhere. *)
Definition is_zero (x : R) : R := if Req_EM_T x 0 then 1 else 0.
