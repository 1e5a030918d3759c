//! Evidence to moves: what the sensors showed, which ply explains it, how sure that is.
//!
//! [`Evidence`] goes in, [`Finding`]s come out. This room knows no articles and no penalties.
//!
//! # The model
//! A board reports changed squares; hands do the rest. A scan takes 0.25 s and samples one square
//! after the other, so a man may be seen on two squares or on none, a captured man may never leave
//! its square, and what lasts less than a scan may never be seen. Hands slide, rest on the way,
//! adjust, push a captured man aside, castle with either piece first, reply before the press. So no
//! single picture of the board decides a move. What is kept instead:
//!
//! * **The line**: confirmed plies (`line`), and after them the *open* plies of a **thread**
//!   (`threads`), which every new change may revise. Nearly always there is one thread. While the
//!   squares cannot tell (the piece a pawn became has no chip, a man was set down unseen) there is
//!   one for each possibility; each goes on with the game, those that the board contradicts are
//!   dropped, and only what all share is told. The others are candidates for a person to choose
//!   from.
//! * **Readings and their cost.** At each change the thread weighs what could explain *everything*
//!   since the last confirmed ply: the line as it is; one more ply; the last plies replaced by
//!   another move of the same hand; plies taken back; two plies whose updates came mixed. A move
//!   counts only if it is *complete*: every square
//!   it changes reads as it should (`moves`). A reading costs so much for each ply, for each square
//!   that still differs (a man in a hand little; a captured man beside its square little; a man
//!   that nothing put there much), for each arrival in the stream that it leaves over or lacks, and
//!   for each step out of order by more than the scan allows (`account`). The cheapest wins; the
//!   constants stand beside the code that uses them. So a slide is one ply that is revised, a
//!   knocked man that is put back is nothing, and a half-done castling is never two plies.
//! * **Presses separate plies** (`press`). The clock's data may be 1 s late and the board a scan
//!   behind, in either order. A press belongs to the mover on the board, whatever side the clock
//!   names. It is settled when the hand cannot go on any more (up to 1 s), two scans
//!   after its ply when a reply stands, later when a man is in the air; then its ply is confirmed. At a calm
//!   pace a board's own history counts: a press heard much sooner after its man than ever before is not
//!   for the square that the man has been read on since. If nothing explains the board,
//!   1.5 s later what stands there is named (`irregular`) and *held*: the board may return to the
//!   position before, the move may be put right, or the other side may play on from it, and then
//!   the irregular ply stands. Without a clock a reply that has been released confirms.
//! * **In a scramble whole stories are compared** (`scramble`). When a reply stands before the press
//!   is heard, or presses pile up, all lines that the readings bear out, from a few confirmed plies
//!   back, are searched (`lattice`): beginnings of one length are compared with each other, and of
//!   each kind, by the plies in question, the most likely few go on. Each line is held against the
//!   whole evidence (`ledger`): every square's readings are aligned with the contents that the line
//!   gives it (`align`; a ply more touches few squares, so only these are aligned anew); a change
//!   read at `t` was made within the scan before `t`; plies take their time (less than a fifth of a second
//!   is seldom enough) and follow one another; presses come one a ply; what was read and no ply explains is a slide, a man set down beside its
//!   square, or a stray (`strays`); what became of a line's plies (`standing`) is kept for the lines one ply
//!   longer. So a man that was taken, or went on, before the scan came round
//!   can be inferred. Where a man went on, the squares often cannot tell by which way: then several
//!   stories cost the same, and no search can choose. A ply of a scramble is weighed for good only
//!   when more has followed, for the next plies often contradict the wrong story (the other side
//!   would have moved twice). It stands when every other story is much worse (22 in the costs' unit, a quarter
//!   of a natural logarithm of odds); while one comes near it waits, up to 4 s after its press. Then it
//!   stands, and if a rival is within 14 it is told with its rivals (`Finding::Gap`, `Finding::Rivals`) first.
//!   Where these two limits lie is a choice between asking a person in vain and being wrong unasked:
//!   see `scramble`. The search keeps only so many beginnings, so it can miss the true story;
//!   therefore each ply whose man was never read where it went is varied besides (`rivals`), what the last
//!   look could not tell apart goes on in the next search whatever else there is (`doubt`), and a
//!   line that explains the readings badly does not stand unnamed, even where no better one is found.
//!   Squares are aligned once for all the lines that do the same to them (`sheet`).
//!   When hands are quick the board's own rhythm can be learnt (`scan`): each square is looked at once a scan, at
//!   its own moment. So it is known when a look found nothing new, and a man that is taken to have stood where he
//!   was never read must fit between two looks (`unseen`): of several squares that explain the same readings
//!   some are likelier.
//! * **Dumps are the truth**, updates are hints: a dump is taken as changes of all squares that
//!   were missed. Where the board stays unexplained a short exhaustive search is made, and a dump
//!   asked for. After a gap in the link, a line is bridged only if exactly one shortest legal
//!   sequence leads to the board (`bridge`, `gap`); else the candidates are named.
//! * **Faulty squares** (`faults`): one that swings to and fro, reads empty while the game goes on
//!   elsewhere, or shows a man too many, is named and then blinded for the reading that tells
//!   nothing.
//! * **Before and after** (`setup`, `ending`): a game is armed by its start position only, which
//!   also tells which way round the board lies; with the clock stopped nothing is added or taken
//!   back; mate, stalemate, two kings in the centre or an entry close the line, and the kings' hops
//!   that led to the signal are stripped.
//!
//! Time comes with the evidence. Every deadline is served at its own moment (`serve`), so it makes no
//! difference how often [`Track::advance`] is called.

mod account;
mod align;
mod bridge;
mod candidates;
mod correct;
mod doubt;
mod ending;
mod evidence;
mod eyes;
mod faults;
mod finding;
mod gap;
mod irregular;
mod lattice;
mod ledger;
mod line;
mod memory;
mod movable;
mod moves;
mod press;
mod rivals;
mod scan;
mod scramble;
mod serve;
mod setup;
mod sheet;
mod size;
mod spare;
mod standing;
mod stories;
mod strays;
mod tally;
mod threads;
mod tracker;
mod trouble;
mod unseen;

pub use evidence::{ClockSense, Correction, Evidence};
pub use finding::{AtPress, Cause, Choice, Finding, Irregular, SquareDiff, SquareFault, TrackedPly};
pub use tracker::Track;
