(* The tactics that decide what theorems about records say. *)
From Interval Require Import Tactic.
Require Export Words Solutions Losses.
Require Import Decide.

Ltac decide_bool := vm_compute; reflexivity.

(* Lists become numbers, and real numbers stay. *)
Ltac decide_reals :=
  cbv -[Rplus Rmult Rminus Ropp Rdiv Rinv exp ln sqrt IZR Rmax Rmin Rabs Rle Rlt is_zero not];
  repeat (apply Forall_nil || apply Forall_cons); decide_numbers.

Ltac decide_low := split; [decide_bool | decide_reals].

Ltac decide_short := apply short_by; decide_reals.

Lemma ends_by m D W l step k w :
  let E := fst (falling D l) in let chosen := optimal (moving E) in
  proves (rows (moving D) chosen) (length (flat W)) m (Some w) = true ->
  short 1 E (snd (falling D l)) step ->
  basin E (snd (falling D l)) (descend E (snd (falling D l)) (Q2R step) k (reals W)) ->
  ends_along D W l step k w.
Proof.
  intros E chosen P S B. right. exists chosen. split; [now apply (solves_by m)|].
  split; [exact S|]. split; [exact B|reflexivity].
Qed.

Ltac decide_run m :=
  first
    [ left; split; [solve [decide_reals] | decide_bool]
    | apply (ends_by m);
      [decide_bool | decide_short | split; [decide_loss | split; [decide_bool | decide_reals]]] ].

Lemma some_false {A} (P : A -> Prop) l : Exists (fun x => ~ P x) l -> ~ Forall P l.
Proof. intros E F. induction E; inversion F; auto. Qed.

(* That not all of several relations hold. *)
Ltac decide_some_false :=
  cbv -[Rplus Rmult Rminus Ropp Rdiv Rinv exp ln sqrt IZR Rmax Rmin Rabs Rle Rlt not];
  apply some_false;
  repeat first
    [ apply Exists_cons_hd; first [apply Rle_not_lt; solve [decide_numbers] | solve [decide_numbers]]
    | apply Exists_cons_tl ].
