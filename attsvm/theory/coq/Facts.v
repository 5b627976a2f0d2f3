(* Finite index sets, sums over them, and the lemmas that prove exported facts from other facts.
   A fact is 0 <= t, 0 < t or t = 0, at every step or from some step on. *)
Require Export Reals Lra List.
Require Import ClassicalEpsilon FunctionalExtensionality Lia Permutation FinFun.
Export ListNotations.
Open Scope R_scope.

(* A finite index set, perhaps empty: all its elements in a list, each once. *)
Record index := {
  element :> Type;
  all : list element;
  complete : forall i, In i all;
  once : NoDup all }.

Definition same_dec {A : Type} (i j : A) : {i = j} + {i <> j} :=
  excluded_middle_informative (i = j).

Definition sum {A : Type} (l : list A) (f : A -> R) : R := fold_right (fun i s => f i + s) 0 l.

Fixpoint most {A : Type} (l : list A) (f : A -> R) : R :=
  match l with
  | [] => 0
  | i :: rest => match rest with [] => f i | _ => Rmax (f i) (most rest f) end
  end.

Definition least {A : Type} (l : list A) (f : A -> R) : R := - most l (fun i => - f i).

(* The elements of I with this owner. *)
Definition members {I J : index} (owner : I -> J) (j : J) : list I :=
  filter (fun i => if same_dec (owner i) j then true else false) (all I).

(* 1 for an element and itself, else 0. *)
Definition same {I : index} (i j : I) : R := if same_dec i j then 1 else 0.

(* The reciprocal, with the value 0 at 0. *)
Definition Inv (x : R) : R := if Req_EM_T x 0 then 0 else / x.
Definition is_zero (x : R) : R := if Req_EM_T x 0 then 1 else 0.

(* The norm of a vector, a function of its coordinates. *)
Definition norm {C : index} (v : C -> R) : R := sqrt (sum (all C) (fun c => v c * v c)).

(* P holds at all steps k from some step N on. *)
Definition Ev (P : nat -> Prop) : Prop := exists N, forall k, (N <= k)%nat -> P k.

(* 1. Another form of the same proposition: a = c b. *)
Lemma le_to c a b : 0 < c -> a = c * b -> 0 <= a -> 0 <= b.
Proof. intros C -> H. apply Rnot_lt_le. intros L. nra. Qed.
Lemma le_from c a b : 0 < c -> a = c * b -> 0 <= b -> 0 <= a.
Proof. intros C -> H. nra. Qed.
Lemma lt_to c a b : 0 < c -> a = c * b -> 0 < a -> 0 < b.
Proof. intros C -> H. apply Rnot_le_lt. intros L. nra. Qed.
Lemma lt_from c a b : 0 < c -> a = c * b -> 0 < b -> 0 < a.
Proof. intros C -> H. nra. Qed.
Lemma eq_to c a b : c <> 0 -> a = c * b -> a = 0 -> b = 0.
Proof. intros C E H. rewrite H in E. symmetry in E. apply Rmult_integral in E. tauto. Qed.
Lemma eq_from c a b : c <> 0 -> a = c * b -> b = 0 -> a = 0.
Proof. intros _ -> ->. ring. Qed.

(* 2. Certificates. *)
Lemma refuted s z : 0 < s -> z = 0 -> s + z = 0 -> False.
Proof. lra. Qed.
Lemma zero_plus a b : a = 0 -> b = 0 -> a + b = 0.
Proof. lra. Qed.
Lemma zero_times a b : b = 0 -> a * b = 0.
Proof. intros ->. ring. Qed.
Lemma le_denied g : (0 < - g -> False) -> 0 <= g.
Proof. intros H. apply Rnot_lt_le. intros L. apply H. lra. Qed.
Lemma lt_denied g : (0 <= - g -> False) -> 0 < g.
Proof. intros H. apply Rnot_le_lt. intros L. apply H. lra. Qed.
Lemma eq_denied g : (0 < g -> False) -> (0 < - g -> False) -> g = 0.
Proof. intros H G. destruct (Rtotal_order g 0) as [L|[E|L]]; [|exact E|]; exfalso; auto with real.
Qed.
Lemma le_or_lt p q : q = - p -> 0 <= p \/ 0 < q.
Proof. intros ->. destruct (Rle_or_lt 0 p); [left|right]; lra. Qed.

(* 3. In the end. *)
Lemma ev_map (P Q : nat -> Prop) : (forall k, P k -> Q k) -> Ev P -> Ev Q.
Proof. intros H (n & E). exists n. auto. Qed.
Lemma ev_and P Q : Ev P -> Ev Q -> Ev (fun k => P k /\ Q k).
Proof. intros (n & E) (m & F). exists (n + m)%nat. intros k L. split; [apply E|apply F]; lia. Qed.
Lemma ev_always (P : nat -> Prop) : (forall k, P k) -> Ev P.
Proof. intros H. exists 0%nat. auto. Qed.
Lemma ev_listed {A} (l : list A) (P : A -> nat -> Prop) :
  (forall i, In i l -> Ev (P i)) -> Ev (fun k => forall i, In i l -> P i k).
Proof. induction l as [|a l IH]; intros H.
  - exists 0%nat. intros k _ i [].
  - destruct (H a (or_introl eq_refl)) as (n & E).
    destruct (IH (fun i L => H i (or_intror L))) as (m & F). exists (n + m)%nat.
    intros k L i [<-|K]; [apply E; lia|apply F; [lia|exact K]]. Qed.
Lemma ev_each (I : index) (P : I -> nat -> Prop) :
  (forall i, Ev (P i)) -> Ev (fun k => forall i, P i k).
Proof. intros H. destruct (ev_listed (all I) P (fun i _ => H i)) as (n & E). exists n.
  intros k L i. apply (E k L i (complete I i)). Qed.

(* 4. Sums. *)
Section Sums.
Context {A : Type}.
Implicit Types (l : list A) (f g : A -> R).

Lemma sum_ext l f g : (forall i, In i l -> f i = g i) -> sum l f = sum l g.
Proof. induction l; simpl; intros H; [reflexivity|]. rewrite IHl, (H a) by auto. reflexivity. Qed.
Lemma sum_zero l : sum l (fun _ => 0) = 0.
Proof. induction l; simpl; [|rewrite IHl]; ring. Qed.
Lemma sum_plus l f g : sum l (fun i => f i + g i) = sum l f + sum l g.
Proof. induction l; simpl; [|rewrite IHl]; ring. Qed.
Lemma sum_times l a f : sum l (fun i => a * f i) = a * sum l f.
Proof. induction l; simpl; [|rewrite IHl]; ring. Qed.

(* A linear combination of functions, and its sum. *)
Fixpoint mixed (t : list (R * (A -> R))) (i : A) : R :=
  match t with [] => 0 | (a, f) :: t => a * f i + mixed t i end.
Fixpoint sums l (t : list (R * (A -> R))) : R :=
  match t with [] => 0 | (a, f) :: t => a * sum l f + sums l t end.
Lemma sum_mixed l t : sum l (mixed t) = sums l t.
Proof. induction t as [|(a, f) t IH]; simpl; [apply sum_zero|].
  rewrite sum_plus, sum_times, IH. reflexivity. Qed.

Lemma sum_le l f : (forall i, In i l -> 0 <= f i) -> 0 <= sum l f.
Proof. induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)).
  assert (0 <= sum l f) by auto. lra. Qed.
Lemma sum_eq l f : (forall i, In i l -> f i = 0) -> sum l f = 0.
Proof. intros H. rewrite (sum_ext l f (fun _ => 0)) by exact H. apply sum_zero. Qed.
Lemma nonempty l : 0 < sum l (fun _ => 1) -> exists i, In i l.
Proof. destruct l as [|a l]; simpl; [lra|]. intros _. exists a. now left. Qed.
Lemma sum_lt l f :
  0 < sum l (fun _ => 1) -> (forall i, In i l -> 0 < f i) -> 0 < sum l f.
Proof. destruct l as [|a l]; simpl; [lra|]. intros _ H. pose proof (H a (or_introl eq_refl)).
  assert (0 <= sum l f) by (apply sum_le; intros; apply Rlt_le; auto). lra. Qed.
Lemma one_of_sum l f i :
  In i l -> (forall j, In j l -> 0 <= f j) -> 0 <= sum l f - f i.
Proof. induction l; simpl; [tauto|]. intros [<-|L] H.
  - assert (0 <= sum l f) by (apply sum_le; auto). lra.
  - pose proof (H a (or_introl eq_refl)). assert (0 <= sum l f - f i) by auto. lra. Qed.
Lemma sum_app l m f : sum (l ++ m) f = sum l f + sum m f.
Proof. induction l; simpl; [|rewrite IHl]; ring. Qed.

(* 5. Extremes. *)
Lemma most_ext l f g : (forall i, In i l -> f i = g i) -> most l f = most l g.
Proof. induction l as [|a l IH]; intros H; [reflexivity|]. simpl.
  rewrite (H a (or_introl eq_refl)). destruct l; [reflexivity|].
  rewrite IH by (intros; apply H; now right). reflexivity. Qed.
Lemma least_ext l f g : (forall i, In i l -> f i = g i) -> least l f = least l g.
Proof. intros H. unfold least. rewrite (most_ext l _ (fun i => - g i)); [reflexivity|].
  intros i L. rewrite (H i L). reflexivity. Qed.
Lemma most_above l f i : In i l -> 0 <= most l f - f i.
Proof. induction l as [|a l IH]; [intros []|]. intros L. simpl. destruct l as [|b l].
  - destruct L as [<-|[]]. lra.
  - pose proof (Rmax_l (f a) (most (b :: l) f)). pose proof (Rmax_r (f a) (most (b :: l) f)).
    destruct L as [<-|L]; [lra|]. specialize (IH L). lra. Qed.
Lemma least_below l f i : In i l -> 0 <= f i - least l f.
Proof. intros L. unfold least. pose proof (most_above l (fun i => - f i) i L). simpl in *. lra. Qed.
Lemma most_is l f : 0 < sum l (fun _ => 1) -> exists i, In i l /\ f i - most l f = 0.
Proof. intros H. destruct l as [|a l]; [simpl in H; lra|]. clear H. revert a.
  induction l as [|b l IH]; intros a.
  - exists a. simpl. split; [now left|ring].
  - destruct (IH b) as (i & L & E). change (most (a :: b :: l) f) with (Rmax (f a) (most (b :: l) f)).
    unfold Rmax. destruct (Rle_dec (f a) (most (b :: l) f)).
    + exists i. split; [now right|exact E].
    + exists a. split; [now left|ring]. Qed.
Lemma least_is l f : 0 < sum l (fun _ => 1) -> exists i, In i l /\ f i - least l f = 0.
Proof. intros H. destruct (most_is l (fun i => - f i) H) as (i & L & E). exists i.
  split; [exact L|]. unfold least. lra. Qed.
Lemma least_le l f r :
  0 < sum l (fun _ => 1) -> (forall i, In i l -> 0 <= f i + r) -> 0 <= least l f + r.
Proof. intros H B. destruct (least_is l f H) as (i & L & E). specialize (B i L). lra. Qed.
Lemma least_lt l f r :
  0 < sum l (fun _ => 1) -> (forall i, In i l -> 0 < f i + r) -> 0 < least l f + r.
Proof. intros H B. destruct (least_is l f H) as (i & L & E). specialize (B i L). lra. Qed.
Lemma most_le l f r :
  0 < sum l (fun _ => 1) -> (forall i, In i l -> 0 <= - f i + r) -> 0 <= - most l f + r.
Proof. intros H B. destruct (most_is l f H) as (i & L & E). specialize (B i L). lra. Qed.
Lemma most_lt l f r :
  0 < sum l (fun _ => 1) -> (forall i, In i l -> 0 < - f i + r) -> 0 < - most l f + r.
Proof. intros H B. destruct (most_is l f H) as (i & L & E). specialize (B i L). lra. Qed.
End Sums.

Lemma sum_swap {A B} (l : list A) (m : list B) f :
  sum l (fun i => sum m (fun j => f i j)) = sum m (fun j => sum l (fun i => f i j)).
Proof. induction l; simpl; [symmetry; apply sum_zero|]. rewrite IHl, <- sum_plus. reflexivity. Qed.
Lemma sum_inner {A B} (l : list A) (m : list B) (F : A -> B -> R) (v : B -> R) :
  sum m (fun c => sum l (fun i => F i c) * v c) = sum l (fun i => sum m (fun c => F i c * v c)).
Proof. rewrite sum_swap. apply sum_ext. intros c _. rewrite Rmult_comm, <- sum_times.
  apply sum_ext. intros. ring. Qed.

Lemma owner_is {I J : index} {owner : I -> J} {j i} : In i (members owner j) -> owner i = j.
Proof. unfold members. rewrite filter_In. destruct (same_dec (owner i) j); intuition congruence. Qed.
Lemma own {I J : index} (owner : I -> J) i : In i (members owner (owner i)).
Proof. unfold members. rewrite filter_In. split; [apply complete|].
  destruct (same_dec (owner i) (owner i)); congruence. Qed.

(* 6. Sums by groups, and sums with a single element that is not 0. *)
Lemma sum_picked {A} (l : list A) i f :
  NoDup l -> In i l -> sum l (fun j => (if same_dec j i then 1 else 0) * f j) = f i.
Proof. induction 1 as [|a l N D IH]; [intros []|]. simpl. intros [->|L].
  - destruct (same_dec i i) as [_|[]]; [|reflexivity]. rewrite sum_eq; [ring|].
    intros j L. destruct (same_dec j i) as [->|]; [contradiction|ring].
  - destruct (same_dec a i) as [->|]; [contradiction|]. rewrite IH by exact L. ring. Qed.
Lemma picked (I : index) i f : sum (all I) (fun j => same j i * f j) = f i.
Proof. apply sum_picked; [apply once|apply complete]. Qed.
Lemma regrouped (I J : index) (owner : I -> J) f :
  sum (all I) f = sum (all J) (fun j => sum (members owner j) f).
Proof. transitivity (sum (all I) (fun i => sum (all J) (fun j => same j (owner i) * f i))).
  - apply sum_ext. intros i _. rewrite (picked J (owner i) (fun _ => f i)). reflexivity.
  - rewrite sum_swap. apply sum_ext. intros j _. unfold members.
    induction (all I) as [|a l IH]; simpl; [reflexivity|]. rewrite IH. unfold same.
    destruct (same_dec (owner a) j), (same_dec j (owner a)); simpl; try congruence; ring. Qed.

(* An axis that is not empty: its first index, and all others, each once. *)
Definition axis {I J : index} (first : I) (after : J -> I) : Prop :=
  (forall i, i = first \/ exists j, after j = i) /\ (forall j, after j <> first) /\
  (forall j k, after j = after k -> j = k).
Lemma sum_same_elements {A} (l m : list A) f :
  NoDup l -> NoDup m -> (forall i, In i l <-> In i m) -> sum l f = sum m f.
Proof. intros L M E. assert (P := NoDup_Permutation L M E). clear L M E.
  induction P; simpl; [reflexivity|now rewrite IHP|ring|congruence]. Qed.
Lemma split_is {I J : index} (first : I) (after : J -> I) f :
  axis first after -> sum (all I) f = f first + sum (all J) (fun j => f (after j)).
Proof. intros (S & N & D).
  rewrite (sum_same_elements (all I) (first :: map after (all J))).
  - simpl. f_equal. induction (all J) as [|j l IH]; simpl; [reflexivity|]. now rewrite IH.
  - apply once.
  - constructor.
    + rewrite in_map_iff. intros (j & E & _). exact (N j E).
    + apply FinFun.Injective_map_NoDup; [intros j k; apply D|apply once].
  - intros i. split; [intros _|intros _; apply complete]. destruct (S i) as [->|(j & <-)]; [now left|].
    right. apply in_map, complete. Qed.

(* 7. Numbers. *)
Lemma Inv_at_0 x : x = 0 -> Inv x = 0.
Proof. intros ->. unfold Inv. destruct (Req_EM_T 0 0); congruence. Qed.
Lemma Inv_else x : x <> 0 -> Inv x = / x.
Proof. intros N. unfold Inv. destruct (Req_EM_T x 0); congruence. Qed.
Lemma Inv_mult x y : Inv (x * y) = Inv x * Inv y.
Proof. destruct (Req_EM_T x 0) as [->|X]; [rewrite Rmult_0_l, !(Inv_at_0 0) by reflexivity; ring|].
  destruct (Req_EM_T y 0) as [->|Y]; [rewrite Rmult_0_r, !(Inv_at_0 0) by reflexivity; ring|].
  rewrite !Inv_else; [field; auto|auto|auto|]. apply Rmult_integral_contrapositive. auto. Qed.
Lemma Inv_Inv x : Inv (Inv x) = x.
Proof. unfold Inv. destruct (Req_EM_T x 0).
  - destruct (Req_EM_T 0 0); congruence.
  - destruct (Req_EM_T (/ x) 0) as [E|_]; [|apply Rinv_inv].
    exfalso. apply Rinv_neq_0_compat in E; auto. Qed.
Lemma Inv_number x y : x * y = 1 -> Inv x = y.
Proof. intros E. unfold Inv. destruct (Req_EM_T x 0) as [->|N]; [lra|].
  apply Rmult_eq_reg_l with x; [|exact N]. rewrite E. field. exact N. Qed.
Lemma Inv_pow x n : Inv (x ^ n) = Inv x ^ n.
Proof. induction n; simpl; [apply Inv_number; ring|]. now rewrite Inv_mult, IHn. Qed.
Lemma equal_functions {A : Type} (f g : A -> R) : (forall x, f x = g x) -> f = g.
Proof. apply functional_extensionality. Qed.
Lemma equal_families {A B : Type} (f g : A -> B -> R) : (forall x, f x = g x) -> f = g.
Proof. apply functional_extensionality. Qed.
(* Sums of the same polynomials become the same text, such as <u, v> and <v, u>; so do values of a
   function at the same polynomial, such as exp (x + y) and exp (y + x). *)
Ltac same_sums := match goal with |- context [sum ?l ?f] =>
  match goal with |- context [sum l ?g] => tryif constr_eq f g then fail else
    (let E := fresh "E" in assert (E : sum l g = sum l f) by
      (apply sum_ext; intros ? _; cbv beta; ring); rewrite E; clear E) end end.
Ltac same_values := match goal with |- context [?f ?x] =>
  lazymatch type of f with R -> R =>
    match goal with |- context [f ?y] => tryif constr_eq x y then fail else
      (let E := fresh "E" in assert (E : f y = f x) by (apply f_equal; ring);
        rewrite E; clear E) end end end.
Ltac same_terms := repeat first [same_sums | same_values].
Ltac poly := cbv beta; first [ring | field | same_terms; first [ring | field]].
Ltac nonzero := first [apply Rgt_not_eq; lra | apply Rlt_not_eq; lra].
Lemma ev_then (P Q : nat -> Prop) : Ev P -> (forall k, P k -> Q k) -> Ev Q.
Proof. intros (n & E) H. exists n. auto. Qed.
Definition nothing : index.
Proof. refine {| element := Empty_set; all := [] |}; [intros []|constructor]. Defined.

(* 8. Lemmas that proofs cite, in the form of their conclusions. *)
Lemma sqrt_square_is x : 0 <= x -> sqrt x ^ 2 = x.
Proof. intros H. simpl. rewrite Rmult_1_r. now apply sqrt_sqrt. Qed.
Lemma squares_le {A} (l : list A) u : 0 <= sum l (fun c => u c * u c).
Proof. apply sum_le. intros. nra. Qed.
Lemma length_0 {C : index} (v : C -> R) : 0 <= norm v.
Proof. apply sqrt_pos. Qed.
Lemma length_1 {C : index} (v : C -> R) :
  norm v ^ 2 + (- 1) * sum (all C) (fun c => v c * v c) = 0.
Proof. unfold norm. rewrite sqrt_square_is by apply squares_le. ring. Qed.
Lemma discriminant_0 a b c :
  (forall t, 0 <= a * t ^ 2 + 2 * b * t + c) -> 0 <= a * c + (- 1) * b ^ 2.
Proof. intros H. destruct (Rtotal_order a 0) as [L|[->|L]].
  - exfalso. set (t := 1 + (Rabs b + Rabs c + 1) / - a).
    pose proof (Rabs_pos b). pose proof (Rabs_pos c).
    assert (P : 0 <= (Rabs b + Rabs c + 1) / - a)
      by (apply Rmult_le_pos; [lra|apply Rlt_le, Rinv_0_lt_compat; lra]).
    assert (E : a * t = a - (Rabs b + Rabs c + 1)) by (unfold t; field; lra).
    pose proof (H t) as T. pose proof (H (- t)) as S.
    assert (1 <= t) by (unfold t; lra).
    assert (c <= Rabs c) by apply Rle_abs.
    assert (0 <= 2 * (a * t) * t + 2 * c) by nra. rewrite E in *. nra.
  - assert (b = 0); [|subst; lra]. destruct (Req_dec b 0) as [E|N]; [exact E|exfalso].
    specialize (H (- (c + 1) / (2 * b))).
    replace (0 * (- (c + 1) / (2 * b)) ^ 2 + 2 * b * (- (c + 1) / (2 * b)) + c) with (- 1) in H
      by (field; exact N). lra.
  - specialize (H (- b / a)).
    replace (a * (- b / a) ^ 2 + 2 * b * (- b / a) + c) with ((a * c - b ^ 2) / a) in H
      by (field; lra). assert (0 <= (a * c - b ^ 2) / a * a) by (apply Rmult_le_pos; lra).
    replace ((a * c - b ^ 2) / a * a) with (a * c - b ^ 2) in * by (field; lra). lra. Qed.
Lemma cauchy_schwarz_0 {C : index} (u v : C -> R) :
  0 <= norm u * norm v + (- 1) * sum (all C) (fun c => u c * v c).
Proof.
  assert (D : 0 <= sum (all C) (fun c => u c * u c) * sum (all C) (fun c => v c * v c)
    + (- 1) * sum (all C) (fun c => u c * v c) ^ 2).
  { apply discriminant_0. intros t.
    replace (sum (all C) (fun c => u c * u c) * t ^ 2 + 2 * sum (all C) (fun c => u c * v c) * t
      + sum (all C) (fun c => v c * v c))
      with (sum (all C) (fun c => (t * u c + v c) * (t * u c + v c))); [apply squares_le|].
    transitivity (sum (all C) (mixed [(t ^ 2, fun c => u c * u c); (2 * t, fun c => u c * v c);
      (1, fun c => v c * v c)])); [apply sum_ext; intros; simpl; ring|rewrite sum_mixed; simpl; ring]. }
  unfold norm. rewrite <- sqrt_mult by apply squares_le.
  set (p := _ * _) in *. set (s := sum _ (fun c => u c * v c)) in *.
  assert (s <= sqrt p); [|lra]. apply Rle_trans with (Rabs s); [apply Rle_abs|].
  rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold Rsqr. nra. Qed.
Lemma reciprocal_0 x : 0 < x -> 1 + (- 1) * Inv x * x = 0.
Proof. intros H. rewrite Inv_else by lra. field. lra. Qed.
Lemma reciprocal_1 x : 0 < x -> 0 < Inv x.
Proof. intros H. rewrite Inv_else by lra. now apply Rinv_0_lt_compat. Qed.
Lemma root_0 x : 0 <= x -> 0 <= sqrt x.
Proof. intros. apply sqrt_pos. Qed.
Lemma root_1 x : 0 <= x -> sqrt x ^ 2 + (- 1) * x = 0.
Proof. intros H. rewrite sqrt_square_is by exact H. ring. Qed.
Lemma size_0 x : 0 <= Rabs x.
Proof. apply Rabs_pos. Qed.
Lemma size_1 x : Rabs x ^ 2 + (- 1) * x ^ 2 = 0.
Proof. rewrite pow2_abs. ring. Qed.
Lemma indicator_0 x : x = 0 -> 1 + (- 1) * is_zero x = 0.
Proof. intros ->. unfold is_zero. destruct (Req_EM_T 0 0); [ring|congruence]. Qed.
Lemma indicator_1 x : 0 < x -> is_zero x = 0.
Proof. intros H. unfold is_zero. destruct (Req_EM_T x 0); [lra|reflexivity]. Qed.
Lemma indicator_2 x : 0 < (- 1) * x -> is_zero x = 0.
Proof. intros H. unfold is_zero. destruct (Req_EM_T x 0); [lra|reflexivity]. Qed.
Lemma indicator_3 x : 0 <= is_zero x.
Proof. unfold is_zero. destruct (Req_EM_T x 0); lra. Qed.
Lemma indicator_4 x : 0 <= 1 + (- 1) * is_zero x.
Proof. unfold is_zero. destruct (Req_EM_T x 0); lra. Qed.
Lemma larger_0 x y : 0 <= Rmax x y + (- 1) * x.
Proof. pose proof (Rmax_l x y). lra. Qed.
Lemma larger_1 x y : 0 <= Rmax x y + (- 1) * y.
Proof. pose proof (Rmax_r x y). lra. Qed.
Lemma larger_2 x y :
  Rmax x y * x + Rmax x y * y + (- 1) * Rmax x y ^ 2 + (- 1) * x * y = 0.
Proof. unfold Rmax. destruct (Rle_dec x y); ring. Qed.
Lemma exponential_0 x : 0 < exp x.
Proof. apply exp_pos. Qed.
Lemma exponential_1 x : 0 <= (- 1) + exp x + (- 1) * x.
Proof. destruct (Req_dec x 0) as [->|N]; [rewrite exp_0; lra|].
  pose proof (exp_ineq1 x N). lra. Qed.
Lemma exponential_of_sum_0 x y : exp (x + y) + (- 1) * exp x * exp y = 0.
Proof. rewrite exp_plus. ring. Qed.
Lemma logarithm_0 x : 0 < x -> exp (ln x) + (- 1) * x = 0.
Proof. intros H. rewrite exp_ln by exact H. ring. Qed.

(* 9. Names for elements and numbers that exist. *)
Definition pick {I : index} (E : 0 < sum (all I) (fun _ => 1)) (f : I -> R) (m : R) : I :=
  epsilon (match nonempty _ E with ex_intro _ i _ => inhabits i end) (fun i => f i - m = 0).
Lemma pick_is {I : index} E (f : I -> R) m :
  (exists i, In i (all I) /\ f i - m = 0) -> f (pick E f m) - m = 0.
Proof. intros (i & _ & H). apply (epsilon_spec _ (fun i => f i - m = 0)). now exists i. Qed.
Definition settled (f : nat -> R) : R := epsilon (inhabits 0) (fun b => Ev (fun k => 0 <= b - f k)).
Lemma settled_is f : Ev (fun k => 0 <= f k - f (S k)) -> Ev (fun k => 0 <= settled f - f k).
Proof. intros (n & H). apply (epsilon_spec _ (fun b => Ev (fun k => 0 <= b - f k))).
  exists (f n). exists n. intros k L. induction L; [lra|]. specialize (H m L). lra. Qed.
Lemma not_le x : ~ 0 <= x -> 0 < - x.
Proof. lra. Qed.
Lemma not_lt x : ~ 0 < x -> 0 <= - x.
Proof. lra. Qed.

(* A sequence that never falls, and that rises by a gain and is bounded while near, is near only
   finitely often. *)
Lemma finitely_often (f : nat -> R) (gain bound : R) (near : nat -> Prop) :
  (forall k, 0 <= f (S k) - f k) -> 0 < gain ->
  (forall k, near k -> 0 <= f (S k) - f k - gain) -> (forall k, near k -> 0 <= bound - f k) ->
  Ev (fun k => ~ near k).
Proof.
  intros U G R B. apply NNPP. intros N.
  assert (M : forall k m, (k <= m)%nat -> f k <= f m).
  { intros k m L. induction L; [lra|]. specialize (U m). lra. }
  assert (O : forall n, exists k, (n <= k)%nat /\ near k).
  { intros n. apply NNPP. intros H. apply N. exists n. intros k L K. apply H. eauto. }
  assert (A : forall m, exists k, near k /\ f 0%nat + INR m * gain <= f k).
  { induction m as [|m (k & K & L)].
    - destruct (O 0%nat) as (k & _ & K). exists k. split; [exact K|]. simpl.
      pose proof (M 0%nat k ltac:(lia)). lra.
    - destruct (O (S k)) as (j & J & K'). exists j. split; [exact K'|].
      pose proof (M (S k) j J). pose proof (R k K). rewrite S_INR. lra. }
  destruct (archimed ((bound - f 0%nat) / gain)) as [H _].
  destruct (A (Z.to_nat (up ((bound - f 0%nat) / gain)))) as (k & K & L). specialize (B k K).
  set (q := (bound - f 0%nat) / gain) in *.
  assert (Q : bound - f 0%nat = q * gain) by (unfold q; field; lra).
  assert (q < INR (Z.to_nat (up q))).
  { destruct (Z_le_gt_dec 0 (up q)) as [P|P].
    - rewrite INR_IZR_INZ, Z2Nat.id by exact P. exact H.
    - apply Rlt_le_trans with (IZR (up q)); [exact H|]. apply Rle_trans with 0.
      + apply IZR_le. lia.
      + apply pos_INR. }
  nra.
Qed.

(* 10. The spectral norm: the largest length of A v for vectors v of length at most 1. *)
Definition image {I J : index} (A : I -> J -> R) (v : J -> R) : R :=
  sum (all I) (fun i => sum (all J) (fun j => A i j * v j) ^ 2).
Definition spectral {I J : index} (A : I -> J -> R) : R :=
  sqrt (epsilon (inhabits 0)
    (is_lub (fun x => exists v : J -> R, sum (all J) (fun j => v j ^ 2) <= 1 /\ x = image A v))).
Lemma sum_above {A} (l : list A) f g : (forall i, In i l -> f i <= g i) -> sum l f <= sum l g.
Proof. induction l; simpl; intros H; [lra|]. pose proof (H a (or_introl eq_refl)).
  assert (sum l f <= sum l g) by auto. lra. Qed.
Lemma square_of_sum {A} (l : list A) f g :
  sum l (fun j => f j * g j) ^ 2 <= sum l (fun j => f j ^ 2) * sum l (fun j => g j ^ 2).
Proof. assert (0 <= sum l (fun j => f j ^ 2) * sum l (fun j => g j ^ 2)
    + (- 1) * sum l (fun j => f j * g j) ^ 2); [apply discriminant_0; intros t|lra].
  replace (_ + _) with (sum l (fun j => (t * f j + g j) ^ 2));
    [apply sum_le; intros; apply pow2_ge_0|].
  transitivity (sum l (mixed [(t ^ 2, fun j => f j ^ 2); (2 * t, fun j => f j * g j);
    (1, fun j => g j ^ 2)])); [apply sum_ext; intros; simpl; ring|rewrite sum_mixed; simpl; ring].
Qed.
Lemma image_scaled {I J : index} (A : I -> J -> R) v t :
  image A (fun j => t * v j) = t ^ 2 * image A v.
Proof. unfold image. rewrite <- sum_times. apply sum_ext. intros i _.
  rewrite (sum_ext _ _ (fun j => t * (A i j * v j))) by (intros; ring).
  rewrite sum_times. ring. Qed.
Lemma spectral_0 {I J : index} (A : I -> J -> R) : 0 <= spectral A.
Proof. apply sqrt_pos. Qed.
Lemma spectral_1 {I J : index} (A : I -> J -> R) v :
  0 <= spectral A ^ 2 * sum (all J) (fun j => v j ^ 2) - image A v.
Proof.
  set (E := fun x => exists v : J -> R, sum (all J) (fun j => v j ^ 2) <= 1 /\ x = image A v).
  set (F := sum (all I) (fun i => sum (all J) (fun j => A i j ^ 2))).
  assert (F0 : 0 <= F) by (apply sum_le; intros; apply sum_le; intros; apply pow2_ge_0).
  assert (B : forall u, image A u <= F * sum (all J) (fun j => u j ^ 2)).
  { intros u. unfold F, image. rewrite Rmult_comm, <- sum_times. apply sum_above. intros i _.
    rewrite Rmult_comm. apply square_of_sum. }
  assert (L : is_lub E (epsilon (inhabits 0) (is_lub E))).
  { apply epsilon_spec. destruct (completeness E) as (m & M); [| |now exists m].
    - exists F. intros x (u & U & ->). apply Rle_trans with (1 := B u). nra.
    - exists (image A (fun _ => 0)), (fun _ => 0). split; [|reflexivity].
      rewrite sum_eq; [lra|intros; ring]. }
  assert (Z : 0 <= epsilon (inhabits 0) (is_lub E)).
  { apply (proj1 L). exists (fun _ => 0). split; [rewrite sum_eq; [lra|intros; ring]|].
    unfold image. symmetry. apply sum_eq. intros. rewrite sum_eq; intros; ring. }
  assert (S : spectral A ^ 2 = epsilon (inhabits 0) (is_lub E)) by now apply sqrt_square_is.
  rewrite S. set (s := epsilon _ _) in *. set (q := sum (all J) (fun j => v j ^ 2)).
  assert (Q : 0 <= q) by (apply sum_le; intros; apply pow2_ge_0).
  destruct (Req_dec q 0) as [N|N].
  { pose proof (B v) as P. fold q in P. rewrite N, Rmult_0_r in P. rewrite N. lra. }
  assert (T : sqrt q ^ 2 = q) by now apply sqrt_square_is.
  assert (P : 0 < sqrt q) by (apply sqrt_lt_R0; lra).
  assert (G : image A (fun j => / sqrt q * v j) <= s).
  { apply (proj1 L). exists (fun j => / sqrt q * v j). split; [|reflexivity].
    rewrite (sum_ext _ _ (fun j => / q * v j ^ 2)), sum_times; [fold q; apply Req_le; field; lra|].
    intros j _. rewrite <- T at 2. field. lra. }
  rewrite image_scaled in G. replace ((/ sqrt q) ^ 2) with (/ q) in G by (rewrite <- T at 1; field; lra).
  apply (Rmult_le_compat_l q) in G; [|lra]. replace (q * (/ q * image A v)) with (image A v) in G
    by (field; exact N). lra.
Qed.
