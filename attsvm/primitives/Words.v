(* The words of data_checker.py, run_checker.py and claim_checker.py in Coq.  Data are rational lists, on which Coq
   computes; losses, attention, gradients and iterates are real. *)
From Coq Require Export QArith Qreals Qreduction List Bool.
Require Export Prelude.
Export ListNotations.
Open Scope R_scope.

(* Losses. *)

Inductive loss : Set := log_loss | exponential | correlation | logistic_loss | cubic | squared
  | logistic_score | hinge | squared_hinge | kinked.

Definition value (l : loss) (u : R) : R :=
  match l with
  | log_loss => ln (1 + exp (- u))
  | exponential => exp (- u)
  | correlation => - u
  | logistic_loss => 1 / (1 + exp u)
  | cubic => - u * u * u
  | squared => (1 - u) * (1 - u)
  | logistic_score => 1 / (1 + exp (- u))
  | hinge => Rmax 0 (1 - u)
  | squared_hinge => Rmax 0 (1 - u) * Rmax 0 (1 - u)
  | kinked => Rmax (- u) (- (2) * u)
  end.

(* The derivatives of the differentiable ones. *)
Definition slope (l : loss) (u : R) : R :=
  match l with
  | log_loss => - 1 / (1 + exp u)
  | exponential => - exp (- u)
  | correlation => - 1
  | logistic_loss => - (1 / (2 + exp u + exp (- u)))
  | cubic => - (3) * (u * u)
  | squared => 2 * (u - 1)
  | logistic_score => 1 / (2 + exp u + exp (- u))
  | hinge | kinked => 0
  | squared_hinge => - (2) * Rmax 0 (1 - u)
  end.

Definition strictly_decreasing (l : loss) : Prop := forall u t, u < t -> value l t < value l u.

Definition decreasing (l : loss) : Prop := forall u t, u < t -> value l t <= value l u.

Definition smooth (l : loss) : Prop :=
  exists f, continuity f /\ forall u, derivable_pt_lim (value l) u (f u).

Definition sloped (l : loss) : Prop :=
  exists f, continuity f /\ forall u, f u < 0 /\ derivable_pt_lim (value l) u (f u).

Definition has_slope (l : loss) : bool :=
  match l with hinge | squared_hinge | kinked => false | _ => true end.
Definition exponential_or_log (l : loss) : bool :=
  match l with exponential | log_loss => true | _ => false end.

(* Bounds of |l'| and of |l''| on scores from a to b. *)
Definition sizes (l : loss) (a b : R) : R * R :=
  let reach := Rmax (Rabs a) (Rabs b) in
  match l with
  | log_loss => (1, 1 / 4)
  | exponential => (exp (- a), exp (- a))
  | correlation => (1, 0)
  | logistic_loss | logistic_score => (1 / 4, 1 / (6 * sqrt 3))
  | cubic => (3 * (reach * reach), 6 * reach)
  | squared => (2 * Rmax (Rabs (a - 1)) (Rabs (b - 1)), 2)
  | hinge | squared_hinge | kinked => (0, 0)
  end.

(* Vectors and matrices of rational numbers, by rows. *)

Definition vec := list Q.
Definition mat := list vec.

Fixpoint zip {A B C} (f : A -> B -> C) (x : list A) (y : list B) : list C :=
  match x, y with a :: x', b :: y' => f a b :: zip f x' y' | _, _ => nil end.

Fixpoint inner (x y : vec) : Q :=
  match x, y with a :: x', b :: y' => Qred (a * b + inner x' y') | _, _ => 0%Q end.

Definition minus : vec -> vec -> vec := zip (fun a b => Qred (a - b)).
Definition scaled (c : Q) : vec -> vec := map (fun a => Qred (c * a)).
Definition plus : vec -> vec -> vec := zip (fun a b => Qred (a + b)).
Definition singleton (x : vec) : mat := [x].
Definition flat {A} (W : list (list A)) : list A := concat W.
Definition is_0 (x : Q) : bool := Qeq_bool x 0%Q.
Definition below (x y : Q) : bool := negb (Qle_bool y x).
Fixpoint same (x y : vec) : bool :=
  match x, y with
  | nil, nil => true | a :: x', b :: y' => Qeq_bool a b && same x' y' | _, _ => false
  end.
Definition all_zero (x : vec) : bool := forallb is_0 x.
Fixpoint transposed {A} (M : list (list A)) : list (list A) :=
  match M with
  | nil => nil | row :: nil => map (fun x => x :: nil) row
  | row :: M' => zip cons row (transposed M')
  end.
Definition mean (A : mat) : mat :=
  [map (fun c => Qred (fold_right Qplus 0%Q c / inject_Z (Z.of_nat (length c)))) (transposed A)].
Fixpoint parts {A} (k d : nat) (w : list A) : list (list A) :=
  match k with O => nil | S k' => firstn d w :: parts k' d (skipn d w) end.
Definition square {A} (w : list A) : list (list A) :=
  let d := Nat.sqrt (length w) in parts d d w.

(* Each pivot row is subtracted from those after it. *)
Fixpoint pivot (x : vec) : option nat :=
  match x with
  | nil => None | a :: x' => if is_0 a then option_map S (pivot x') else Some O
  end.
Fixpoint rank_in (steps : nat) (M : mat) : nat :=
  match steps, M with
  | S k, row :: rest =>
      match pivot row with
      | None => rank_in k rest
      | Some c => S (rank_in k (map (fun x => minus x (scaled (nth c x 0 / nth c row 0)%Q row)) rest))
      end
  | _, _ => O
  end.
Definition rank (M : mat) : nat := rank_in (length M) M.

(* Data: inputs, each with tokens, a query and a score of each token. *)

Record input : Set := Input { tokens : mat; query : vec; scores : vec }.

Definition Data (X : list mat) (Z s : mat) : list input := zip (fun f x => f x) (zip Input X Z) s.

Definition labelled (X : list mat) (Z : mat) (y v : vec) : list input :=
  Data X Z (zip (fun rows b => map (fun x => Qred (b * inner v x)) rows) X y).

Definition first_axis (d : nat) : vec := 1%Q :: repeat 0%Q (d - 1).

Definition prompted (K : list mat) (s : mat) : list input :=
  Data K (map (fun X => first_axis (length (hd nil X))) K) s.

Definition column (p : vec) : mat := map (fun x => x :: repeat 0%Q (length p - 1)) p.

Definition self_attention (S : list mat) (V : mat) (B : list mat) (causal : bool) : list input :=
  concat (zip (fun sequence rows => concat (zip (fun j row => concat (zip (fun b y =>
      let seen := if causal then firstn (j + 1) sequence else sequence in
      if is_0 b then nil
      else [Input seen (nth j sequence nil) (map (fun x => Qred (b * inner x y)) seen)])
    row (transposed V))) (seq 0 (length rows)) rows)) S B).

Definition predictions (E : mat) (S : list (list nat)) (whole : bool) : list input :=
  concat (map (fun sentence => map (fun j =>
      let token k := nth (nth k sentence O) E nil in
      let seen := if whole then E else map (fun k => token k) (seq 0 (j + 1)) in
      Input seen (token j) (map (fun x => inner x (token (j + 1)%nat)) seen))
    (seq 0 (length sentence - 1))) S).

Definition highest (s : vec) : Q := fold_right (fun a b => if Qle_bool b a then a else b) (hd 0%Q s) s.
Fixpoint place (x : Q) (s : vec) : nat :=
  match s with nil => O | a :: s' => if Qeq_bool a x then O else S (place x s') end.
Definition negated (s : vec) : vec := map Qopp s.
Definition best (s : vec) : nat := place (highest s) s.
Definition optimal (D : list input) : list nat := map (fun i => best (scores i)) D.
Definition worst (D : list input) : list nat := map (fun i => best (negated (scores i))) D.
Definition opposed (D : list input) : list input :=
  map (fun i => Input (tokens i) (query i) (negated (scores i))) D.
Definition constant (s : vec) : bool := forallb (Qeq_bool (hd 0%Q s)) s.
Definition moving (D : list input) : list input :=
  filter (fun i => negb (constant (scores i))) D.

Definition without {A} (c : nat) (l : list A) : list A := firstn c l ++ skipn (S c) l.

(* (x_chosen - x_t) z^T, entry by entry, for every other token t of each input. *)
Definition rows (D : list input) (chosen : list nat) : mat :=
  concat (zip (fun i c => map (fun x =>
      flat (map (fun a => scaled a (query i)) (minus (nth c (tokens i) nil) x)))
    (without c (tokens i))) D chosen).

Definition head_rows (X : list mat) (y : vec) (alpha : list nat) : mat :=
  zip (fun xb a => scaled (snd xb) (nth a (fst xb) nil)) (zip pair X y) alpha.

Definition prompt_rows (X : list mat) (W : mat) (alpha : list nat) : mat :=
  concat (zip (fun T a => map (fun x => map (fun row => inner row (minus (nth a T nil) x)) W)
    (without a T)) X alpha).

(* The score of the chosen token less that of each other token of its input. *)
Definition leads (D : list input) (chosen : list nat) : vec :=
  concat (zip (fun i c => map (fun g => Qred (nth c (scores i) 0 - g)%Q) (without c (scores i)))
    D chosen).
Definition choices (D : list input) : list (list nat) :=
  fold_right (fun i L => flat_map (fun t => map (cons t) L) (seq 0 (length (tokens i)))) [nil] D.
Definition product (A B : mat) : mat := map (fun a => map (inner a) B) A.

(* Conditions on data. *)

Definition unique (D : list input) : bool :=
  forallb (fun i => Nat.eqb (length (filter (Qeq_bool (highest (scores i))) (scores i))) 1) D.
Definition rivals_equal (D : list input) : bool :=
  forallb (fun i => constant (without (best (scores i)) (scores i))) D.
Definition several_tokens (D : list input) : bool :=
  existsb (fun i => Nat.ltb 1 (length (scores i))) D.
Definition several_scores (D : list input) : bool :=
  existsb (fun i => negb (constant (scores i))) D.
Definition one_input (D : list input) : bool := Nat.eqb (length D) 1.
Definition one_input_of_two (D : list input) : bool :=
  match D with [i] => Nat.eqb (length (scores i)) 2 | _ => false end.
Definition wide (D : list input) : bool :=
  Nat.leb (length D * fold_right Nat.max O (map (fun i => length (tokens i)) D))
    (length (query (hd (Input nil nil nil) D))).
Fixpoint signs (n : nat) : mat :=
  match n with O => [nil] | S k => flat_map (fun y => [1%Q :: y; (- (1))%Q :: y]) (signs k) end.
(* The scores are y_i <v, x_t> for labels y of 1 and -1 and some v. *)
Definition linear_scores (D : list input) : bool :=
  let X := flat (map tokens D) in
  existsb (fun y => Nat.eqb (rank X) (rank (zip (fun x s => x ++ [s]) X
    (flat (zip (fun i b => scaled b (scores i)) D y))))) (signs (length D)).
Definition optima_differ (D : list input) : bool :=
  let B := map (fun i => nth (best (scores i)) (tokens i) nil)
             (filter (fun i => Nat.ltb 1 (length (tokens i))) D) in
  (fix differ B := match B with
     | nil => true | x :: B' => forallb (fun y => negb (same x y)) B' && differ B' end) B.
Definition favoured (q : vec) (X : list mat) (y : vec) (alpha : list nat) : bool :=
  forallb (fun c => Qle_bool 0 c) (concat (zip (fun Tb a =>
    map (fun x => snd Tb * inner q (minus (nth a (fst Tb) nil) x))%Q (fst Tb)) (zip pair X y) alpha)).
Definition one_hot (B : list mat) : bool :=
  forallb (forallb (fun row => forallb (fun x => is_0 x || Qeq_bool x 1%Q) row
    && Nat.eqb (length (filter (Qeq_bool 1%Q) row)) 1)) B.
Definition is_identity (M : mat) : bool :=
  forallb (fun i => same (nth i M nil)
    (map (fun j => if Nat.eqb i j then 1%Q else 0%Q) (seq 0 (length (nth i M nil)))))
    (seq 0 (length M)).

(* Max-margin programmes. *)

Fixpoint dot (x y : list R) : R :=
  match x, y with a :: x', b :: y' => a * b + dot x' y' | _, _ => 0 end.
Definition real : vec -> list R := map Q2R.

(* u has margin 1 for each row. *)
Definition meets (A : mat) (u : list R) : Prop := Forall (fun a => 1 <= dot (real a) u) A.

(* t is the shortest vector of length d with margins 1; None says that no vector has them. *)
Definition solves (A : mat) (d : nat) (t : option vec) : Prop :=
  match t with
  | Some w => length w = d /\ meets A (real w) /\
      forall u, length u = d -> meets A u -> dot (real w) (real w) <= dot u u
  | None => forall u, length u = d -> ~ meets A u
  end.

Definition some (w : vec) : option vec := Some w.
Definition exists_ (t : option vec) : bool := match t with Some _ => true | None => false end.
Definition has_direction (t : option vec) : bool :=
  match t with Some w => negb (all_zero w) | None => false end.
Definition all_tight (D : list input) (t : option vec) : bool :=
  match t with
  | Some w => forallb (fun a => Qeq_bool (inner a w) 1%Q) (rows D (optimal D)) | None => false
  end.
Definition solution (t : option vec) : vec := match t with Some w => w | None => nil end.
Definition solved (t : option vec) : list R := real (solution t).
Definition margins (A : mat) (w : vec) : vec := map (fun a => inner a w) A.
Definition opposite (t : option vec) : option vec := option_map negated t.
Definition turned (t : option vec) : option vec :=
  option_map (fun w => flat (transposed (square w))) t.

Definition lowest (s : vec) : Q := (- highest (negated s))%Q.
Definition without_least (D : list input) : list input := map (fun i =>
  let s := scores i in
  let kept := filter (fun xg => negb (Qeq_bool (snd xg) (lowest s)) || Qeq_bool (snd xg) (highest s))
                (zip pair (tokens i) s) in
  Input (map fst kept) (query i) (map snd kept)) D.

(* The token of largest logit, as the norm along w tends to infinity. *)
Definition chosen_by (w : vec) (i : input) : nat :=
  let q := map (fun row => inner row (query i)) (square w) in
  best (map (fun x => inner x q) (tokens i)).
(* The margins of the other tokens, and x in place of the chosen one. *)
Definition margins_in (w : vec) (i : input) (c : nat) (x : Q) : vec :=
  let m := map (fun a => inner a w) (rows [i] [c]) in firstn c m ++ x :: skipn c m.
(* No parts of the gradient of an input cancel: the leads over its nearest tokens have one sign. *)
Definition uncancelled (w : vec) (i : input) : bool :=
  let c := chosen_by w i in
  let m := map (fun a => inner a w) (rows [i] [c]) in
  let leads := map (fun g => nth c (scores i) 0 - g)%Q (without c (scores i)) in
  let close := map fst (filter (fun lg => Qeq_bool (snd lg) (lowest m)) (zip pair leads m)) in
  forallb (fun x => negb (is_0 x)) leads &&
  (forallb (below 0%Q) close || forallb (fun x => below x 0%Q) close).
(* As descent goes along w, of multipliers m, the share of a token of margin above 1 under t lasts:
   it is at the least margin under w, or is selected in an input with a token at the least margin. *)
Definition share_lasts (D : list input) (w m : vec) (t : option vec) : bool :=
  match t with
  | None => false
  | Some v =>
    Nat.eqb (length (moving D)) (length D) && forallb (uncancelled w) D &&
    forallb (fun gm => negb (Qeq_bool (fst gm) 1%Q) || below 0%Q (snd gm))
      (zip pair (map (fun a => inner a w) (rows D (map (chosen_by w) D))) m) &&
    existsb (fun i =>
      let c := chosen_by w i in
      let near := lowest (map (fun a => inner a w) (rows [i] [c])) in
      existsb (fun gh => Qeq_bool (fst gh) 1%Q && below 1%Q (snd gh))
        (zip pair (margins_in w i c near) (margins_in v i (best (scores i)) 0%Q))) D
  end.

Definition is_positive (x : Q) : bool := below 0%Q x.
Definition how_many (x : Q) (s : vec) : Q :=
  inject_Z (Z.of_nat (length (filter (Qeq_bool x) s))).
Definition most_above_1 (s : vec) : bool :=
  Qle_bool (how_many 1 s) ((1 # 2) * inject_Z (Z.of_nat (length s))).
Definition exceeds (s : vec) (x : Q) : bool := existsb (below x) s.
Definition independent (M : mat) : bool := Nat.eqb (rank M) (length M).
Definition rank_above (k : nat) (t : option vec) : bool :=
  match t with Some w => Nat.ltb k (rank (square w)) | None => false end.

Definition all_positive (s : vec) : bool := forallb is_positive s.
Definition far (x : vec) (t : option vec) : bool :=
  match t with Some w => Qle_bool ((1048576 # 1) * inner w w) (inner x x) | None => false end.
Definition same_solution (s t : option vec) : bool :=
  match s, t with Some x, Some y => same x y | None, None => true | _, _ => false end.
(* C times the norm of the sum of the rows is above 1. *)
Definition steep (C : Q) (A : mat) : bool :=
  let s := map (fold_right Qplus 0%Q) (transposed A) in below 1%Q (C * C * inner s s)%Q.
Definition shared_tokens (D : list input) (s : list nat) : bool :=
  let P := zip pair D s in
  forallb (fun p => forallb (fun q => negb (Nat.eqb (snd p) (snd q)) ||
    same (flat (tokens (fst p))) (flat (tokens (fst q)))) P) P.

(* A choice has a solution, and each chosen token scores above the tokens of margin 1. *)
Definition locally_optimal (D : list input) (c : list nat) (t : option vec) : bool :=
  match t with
  | Some w => forallb (fun lm => is_positive (fst lm) || below 1%Q (snd lm))
      (zip pair (leads D c) (margins (rows D c) w))
  | None => false
  end.
Definition local_unique (D : list input) (L : list (list nat * option vec)) : bool :=
  forallb (fun ct => eqb (locally_optimal D (fst ct) (snd ct))
    (forallb (Qle_bool 0) (leads D (fst ct)))) L.
Definition local_tight (D : list input) (L : list (list nat * option vec)) : bool :=
  forallb (fun ct => forallb (Qeq_bool 1)
    match snd ct with Some w => margins (rows D (fst ct)) w | None => nil end) L.
Definition local_solved (L : list (list nat * option vec)) : bool :=
  forallb (fun ct => exists_ (snd ct)) L.

(* w is a positive multiple of t. *)
Definition along (w : vec) (t : option vec) : bool :=
  match t with
  | Some x => below 0%Q (inner w x) && Qeq_bool (inner w x * inner w x) (inner w w * inner x x)
  | None => false
  end.

Definition decisions (D : list input) (w : vec) : list (vec * vec) :=
  concat (map (fun i =>
    let b := nth (best (scores i)) (tokens i) nil in
    let u := map (fun row => inner row (query i)) (square w) in
    match map (fun x => inner u (minus b x)) (without (best (scores i)) (tokens i)) with
    | nil => nil
    | leads => [(u ++ [Qred (inner u b + highest (negated leads) * (1 # 2))], b)]
    end) D).
Definition decisions_differ (D : list input) (t : option vec) (turned : bool) : bool :=
  match t with
  | None => false
  | Some w =>
    (fix differ E := match E with
     | nil => true
     | (u, x) :: E' => forallb (fun vy => let (v, y) := vy : vec * vec in same x y
         || negb (Qeq_bool (inner u u * inner v v) (inner u v * inner u v))
         || (turned && below (inner u v) 0%Q)) E' && differ E'
     end) (decisions D w)
  end.

(* Descent on the mean of l(sum_t s_t score_t), s the softmax of the logits x_t^T W z. *)

Definition matrix := list (list R).
Definition reals (M : mat) : matrix := map real M.
Definition sum : list R -> R := fold_right Rplus 0.
Definition multiple (c : R) : list R -> list R := map (Rmult c).
Definition added : list R -> list R -> list R := zip Rplus.

Definition keys (D : list input) : list matrix := map (fun i => reals (tokens i)) D.
Definition queries (D : list input) : matrix := map (fun i => real (query i)) D.
Definition real_scores (D : list input) : matrix := map (fun i => real (scores i)) D.

Definition logits (i : input) (W : matrix) : list R :=
  let q := map (fun row => dot row (real (query i))) W in
  map (fun x => dot (real x) q) (tokens i).
Definition attention (s : list R) : list R :=
  let e := map exp s in map (fun x => x / sum e) e.
Definition attended (i : input) (W : matrix) : R :=
  dot (attention (logits i W)) (real (scores i)).

(* l'(u) sum_t s_t (score_t - u) x_t z^T *)
Definition pull (l : loss) (W : matrix) (i : input) : matrix :=
  let s := attention (logits i W) in
  let u := attended i W in
  let a := map (fun c => slope l u * dot (zip Rmult s (map (fun g => g - u) (real (scores i)))) c)
             (transposed (reals (tokens i))) in
  map (fun x => multiple x (real (query i))) a.
Fixpoint pulls (l : loss) (W : matrix) (D : list input) : matrix :=
  match D with
  | nil => nil
  | i :: nil => pull l W i
  | i :: D' => zip added (pull l W i) (pulls l W D')
  end.
Definition gradient (D : list input) (l : loss) (W : matrix) : matrix :=
  map (map (fun g => g / INR (length D))) (pulls l W D).
Fixpoint descend (D : list input) (l : loss) (step : R) (k : nat) (W : matrix) : matrix :=
  match k with
  | O => W
  | S k' => let V := descend D l step k' W in zip (zip (fun w g => w - step * g)) V (gradient D l V)
  end.
Definition is_stationary (D : list input) (W : mat) (l : loss) : Prop :=
  Forall (fun g => g = 0) (flat (gradient D l (reals W))).

(* sign <-grad L, a> > 0 at W for all rows a *)
Definition rises (D : list input) (W : mat) (l : loss) (A : mat) (sign : R) : Prop :=
  Forall (fun a => sign * dot (flat (gradient D l (reals W))) (real a) < 0) A.

(* A Lipschitz constant of the gradient: r_i bounds the spectral norm of the centred tokens. *)
Definition centred (i : input) : mat :=
  map (fun x => minus x (hd nil (mean (tokens i)))) (tokens i).
Definition reaches (i : input) (r : R) : Prop :=
  0 <= r /\ forall v, length v = length (hd nil (tokens i)) ->
    sum (map (fun x => dot (real x) v * dot (real x) v) (centred i)) <= r * r * dot v v.
Definition bend (l : loss) (i : input) (r : R) : R :=
  let a := Q2R (- highest (negated (scores i)))%Q in
  let b := Q2R (highest (scores i)) in
  Q2R (inner (query i) (query i)) * (r * r)
    * ((b - a) * fst (sizes l a b) / (3 * sqrt 3)
       + (b - a) * (b - a) * snd (sizes l a b) / 8).
(* factor * step * smoothness <= 1 *)
Definition short (factor : R) (D : list input) (l : loss) (step : Q) : Prop :=
  exists r, Forall2 reaches D r /\ factor * Q2R step * (sum (zip (bend l) D r) / INR (length D)) <= 1.

(* The fate of descent.  That it keeps the tokens of a basin or of a trap is a theorem
   (docs/proofs/traps.md), which is not proved here. *)

(* The mean loss at W is above its infimum by less than any input loses by its second best score. *)
Definition gap (D : list input) (l : loss) (W : matrix) : R :=
  sum (map (fun i => value l (attended i W) - value l (Q2R (highest (scores i)))) D).
Definition room (l : loss) (i : input) : R :=
  let best := highest (scores i) in
  value l (Q2R (highest (filter (fun x => negb (Qeq_bool x best)) (scores i)))) - value l (Q2R best).
Definition basin (D : list input) (l : loss) (W : matrix) : Prop :=
  sloped l /\ unique (moving D) = true /\
  Forall (fun i => gap D l W < room l i) (moving D).

(* The mean loss at W is above its infimum. *)
Definition loses (D : list input) (W : mat) (l : loss) : Prop :=
  Forall (Rlt 0) [gap (moving D) l (reals W)].

Definition starts_low (D : list input) (W : mat) (l : loss) : Prop :=
  several_scores D = true /\ Forall (fun i => gap (moving D) l (reals W) < room l i) (moving D).

Definition keeps (D : list input) (W : mat) (l : loss) (step : Q) (k : nat) (chosen : list nat)
    : Prop :=
  short 1 D l step /\ basin D l (descend D l (Q2R step) k (reals W)) /\
  chosen = optimal (moving D).

(* Descent on the logistic score is descent on the logistic loss for the opposite scores. *)
Definition falling (D : list input) (l : loss) : list input * loss :=
  match l with logistic_score => (opposed D, logistic_loss) | _ => (D, l) end.

(* Descent converges in direction to w, or stays at w. *)
Definition ends_along (D : list input) (W : mat) (l : loss) (step : Q) (k : nat) (w : vec) : Prop :=
  (is_stationary D W l /\ w = flat W) \/
  exists chosen, solves (rows (moving D) chosen) (length (flat W)) (Some w) /\
    keeps (fst (falling D l)) W (snd (falling D l)) step k chosen.

(* Expressions of the checker, each with the words that say the same.
   'logistic' := logistic_score
   any(len(row) > 1 for row in data.scores) := several_tokens(data)
   any(len(set(row)) > 1 for row in data.scores) := several_scores(data)
   bool(data.moving.X) := several_scores(data)
   len(data.X) == 1 := one_input(data)
   [len(row) for row in data.scores] == [2] := one_input_of_two(data)
   len(data.Z[0]) >= len(data.X) * max(len(X) for X in data.X) := wide(data)
   any(flat(start)) := not all_zero(flat(start))
   loss in SLOPED := sloped(loss)
   along(other, limit) := along(other, some(limit))
   loss in LOSSES := has_slope(loss)
   loss in ('exponential', 'log-loss') := exponential_or_log(loss)
   favours(data, start, loss, [target]) := rises(data, start, loss, singleton(solution(target)), 1)
   any(t in lasting(data, limit, weights) for t in idle) := share_lasts(data, limit, weights, target)
   at_most(step * smoothness(data, loss), 1) := short(1, data, loss, step)
   at_most(2 * step * smoothness(data, loss), 1) := short(2, data, loss, step)
   diverges(data, start, loss) := fact(not is_stationary(data, start, loss))
   stays(data, start, loss) := ends_along(data, start, loss, step, steps=0, multipliers=[])
   factors_converge(K, Q_) := fact(not all_zero(flat(K)) or not all_zero(flat(Q_)))
   flat(transposed(matrix(target))) := turned(target)
   target and [-x for x in target] := opposite(target)
   rank(embeddings) == len(embeddings) := independent(embeddings)
   below(1, rank(matrix(target))) := fact(rank_above(1, target))
   below(0, min(margins)) := fact(is_positive(lowest(margins)))
   below(0, max(margins)) := fact(is_positive(highest(margins)))
   equal(max(margins), 0) := fact(is_0(highest(margins)))
   equal(min(margins), 0) := fact(is_0(lowest(margins)))
   [mean(A)] := mean(A)
   any(flat(move)) := not all_zero(flat(move))
   C > 0 := is_positive(C)
   all(C * C * inner(s, s) <= 1 for s in [summed(rows(data, data.optimal), size)]) :=
     not steep(C, rows(data, optimal(data)))
   all(100 * inner(s, s) > 1 for s in [summed(rows(data, data.optimal), size)]) :=
     steep(10, rows(data, optimal(data)))
   all(data.X[k] == data.X[sequence.index(a)] for k, a in enumerate(sequence)) :=
     shared_tokens(data, sequence)
   all(w is None or set(margins_of(data, c, w)) <= {1} for c, w in local) := local_tight(data, local)
   all(w is not None for _, w in local) := local_solved(local)
   all(locally_optimal(data, c, w) == is_optimal(data, c) for c, w in local) :=
     local_unique(data, local)
   all(lead > 0 for lead in leads(data, data.optimal)) := all_positive(leads(data, optimal(data)))
   min(margins_of(data, alpha, flat(start))) > 0 :=
     all_positive(margins(rows(data, alpha), flat(start)))
   own is not None and inner(flat(start), flat(start)) >= 2**20 * inner(own, own) :=
     far(flat(start), own)
   target == alone := same_solution(target, alone)
   below(0, risk_gap(data, W, loss)) := loses(data, W, loss)
   reals(target) := solved(target)
   reals(data.X) := keys(data)
   reals(data.Z) := queries(data)
   reals(data.scores) := real_scores(data)
   all(b * inner(q, minus(tokens[a], x)) >= 0
     for tokens, b, a in zip(X, y, alpha) for x in tokens) := favoured(q, X, y, alpha)
   at_most(margins.count(1), Q('1/2') * len(margins)) := fact(most_above_1(margins))
   any(x > 1 for x in margins) := exceeds(margins, 1)
   [inner(a, target) for a in rows(data, data.optimal)] :=
     margins(rows(data, optimal(data)), solution(target))
   [inner(a, limit) for a in rows(data, data.optimal)] := margins(rows(data, optimal(data)), limit)
   [inner(a, limit) for a in rows(data, data.worst)] := margins(rows(data, worst(data)), limit) *)
