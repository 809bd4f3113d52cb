//! A channel: a list of messages that grows at one end, and a word through which its ends meet.
//!
//! A send takes its place by a read-modify-write of `word`, links its message, which is plain memory ordered by that, and says in the message
//! before that it is there. So the orders of sends are explored, and a receiver that waits for the next message has only one event to wait for.
//!
//! What `word` holds beside two flags depends on who can be held up:
//! - [`Room::Counted`], [`Room::Bounded`]: how many messages were sent. Only of the second kind a send waits: until the message was received that had its place before
//!   ([`Places`]).
//! - [`Room::Rendezvous`]: whether the receiver is here. A send waits for it.
//!
//! So a receiver changes nothing that senders change, but at its end: what either sees of the other may be old, as in std's channel.
//!
//! Two things are no events until it is learned that somebody can see them: a bounded channel counts until more messages were sent than it has room
//! for, and who was the last sender matters when a receiver comes to a channel without messages.

use std::cell::{Cell, UnsafeCell};
use std::mem::needs_drop;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};

use super::places::Places;
use crate::checked::thread::{has_token_of_park, may_use_token};
use crate::checked::word::{Word32, Word64};

/// In `word`: there is no receiver any more.
pub(super) const GONE: u64 = ops::RECEIVER_GONE;
/// In `word`: there is no sender any more.
pub(super) const CLOSED: u64 = 2;
/// In `word`, one message.
const ONE: u64 = 4;
/// In the `word` of a rendezvous: the receiver waits.
pub(super) const WAITING: u64 = 4;
/// In the `word` of a rendezvous: the receiver looks whether a sender waits.
pub(super) const POLLING: u64 = 8;

/// In a node's `next_is`: the next message is there.
const MESSAGE: u32 = 1;
/// In a node's `next_is`: there will be none.
const NONE: u32 = ops::NO_MESSAGE as u32;

/// Learned when somebody can see who was the last sender.
const SENDERS_KEY: u64 = u64::from_le_bytes(*b"senders\0") | 1;
/// Learned when a message that has a destructor is left in a channel without a bound, and the receiver goes.
const LEFT_KEY: u64 = u64::from_le_bytes(*b"left\0\0\0\0") | 1;
/// Learned when a bounded channel may be full.
const FULL_KEY: u64 = u64::from_le_bytes(*b"channel\0") | 1;

/// Who can be held up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Nobody, as long as no more than so many messages are sent.
    Counted(usize),
    /// A sender, while so many messages are there.
    Bounded(u32),
    /// A sender, until the receiver comes for its message.
    Rendezvous,
}

impl Room {
    /// For `bound` messages.
    pub(super) fn of(bound: usize) -> Self {
        match u32::try_from(bound).ok() {
            Some(0) => Room::Rendezvous,
            Some(_) if ops::controlled() && !ops::learned(FULL_KEY) => Room::Counted(bound),
            Some(bound) => Room::Bounded(bound),
            // No machine has room for so many.
            None => Room::Counted(usize::MAX),
        }
    }
}

struct Node<T> {
    /// [`MESSAGE`] or [`NONE`] once it is known what comes next.
    next_is: Word32,
    next: Cell<*mut Node<T>>,
    value: Cell<Option<T>>,
}

impl<T> Node<T> {
    fn boxed(value: Option<T>) -> NonNull<Self> {
        let node = Self { next_is: Word32::new(0), next: Cell::new(ptr::null_mut()), value: Cell::new(value) };
        NonNull::from(Box::leak(Box::new(node)))
    }
}

/// Where the list grows.
struct Tail<T> {
    last: NonNull<Node<T>>,
    sent: usize,
    /// The node after which the receiver waits, if it does.
    awaited: *const Node<T>,
    /// The last sender went, and that was no event.
    closed: bool,
}

/// Why nothing could be sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Refused {
    /// There is no room, or no receiver waits.
    Full,
    /// There is no receiver.
    Gone,
}

/// What both ends share. Nothing here that is not an event differs between two runs of one execution.
pub(super) struct Channel<T> {
    pub(super) word: Word64,
    senders: Word32,
    pub(super) room: Room,
    /// Of a bounded channel.
    places: Option<Places>,
    /// Held only between two events: under control it is always free.
    tail: Mutex<Tail<T>>,
    /// The node before the next message. Only the receiver is here.
    head: UnsafeCell<NonNull<Node<T>>>,
    /// How many messages were received. Only the receiver is here.
    received: Cell<u64>,
    /// The receiver has seen that there will be no more.
    ended: Cell<bool>,
    /// 1 once one end has done with it.
    done: Word32,
    /// What is left stays for ever.
    leaks: Cell<bool>,
}

// SAFETY: the list's end is behind a lock, its head is used by the one receiver, which is not `Sync`; messages move from thread to thread.
unsafe impl<T: Send> Send for Channel<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Channel<T> {}

impl<T> Channel<T> {
    pub(super) fn new(room: Room) -> Self {
        let stub = Node::boxed(None);
        let tail = Tail { last: stub, sent: 0, awaited: ptr::null(), closed: false };
        let places = match room {
            Room::Bounded(bound) => Some(Places::new(bound)),
            Room::Counted(_) | Room::Rendezvous => None,
        };
        Self {
            word: Word64::new(0),
            senders: Word32::new(1),
            room,
            places,
            tail: Mutex::new(tail),
            head: UnsafeCell::new(stub),
            received: Cell::new(0),
            ended: Cell::new(false),
            done: Word32::new(0),
            leaks: Cell::new(false),
        }
    }

    fn tail(&self) -> MutexGuard<'_, Tail<T>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends, and waits for room or for the receiver if it must.
    #[track_caller]
    pub(super) fn send(&self, value: T) -> Result<(), T> {
        if has_token_of_park() && self.is_full() {
            may_use_token();
        }
        let taken = match &self.places {
            Some(_) => self.take_place(true).is_ok(),
            None if self.room == Room::Rendezvous => {
                let flags = (GONE | WAITING | POLLING) as u32;
                let test = Test::Not { mask: flags, unwanted: 0 };
                let update = Update::KeepAdd { keep: !((WAITING | POLLING) as u32), add: 0 };
                self.word.wait(Guard { test, update }, Acquire, Label::ChannelSend) & GONE == 0
            }
            None => self.word.rmw(Rmw::Add, ONE, Relaxed, Label::ChannelSend) & GONE == 0,
        };
        if !taken {
            return Err(value);
        }
        self.add(value);
        Ok(())
    }

    /// Would a send have to wait?
    #[track_caller]
    fn is_full(&self) -> bool {
        if let Room::Counted(_) = self.room {
            return false;
        }
        let word = self.word.load(Relaxed, Label::ChannelSend);
        if word & GONE != 0 {
            return false;
        }
        let Some(places) = &self.places else { return true };
        !places.is_free(word / ONE)
    }

    /// Takes the next place of a bounded channel, once it is free, or if it is; or meets the receiver that waits at a rendezvous, if it does.
    #[track_caller]
    fn take_place(&self, waits: bool) -> Result<(), Refused> {
        let order = if self.room == Room::Rendezvous { Acquire } else { Relaxed };
        let mut word = self.word.load(Relaxed, Label::ChannelSend);
        loop {
            let new = self.after_send(word, waits)?;
            match self.word.compare_exchange(word, new, order, Relaxed, Label::ChannelSend) {
                Ok(_) => return Ok(()),
                Err(found) => word = found,
            }
        }
    }

    /// What a send makes of `word`.
    #[track_caller]
    fn after_send(&self, word: u64, waits: bool) -> Result<u64, Refused> {
        if word & GONE != 0 {
            return Err(Refused::Gone);
        }
        match &self.places {
            None if word & WAITING == 0 => Err(Refused::Full),
            None => Ok(word - WAITING),
            Some(places) if waits && !places.wait(word / ONE) => Err(Refused::Gone),
            Some(places) if !waits && !places.is_free(word / ONE) => Err(Refused::Full),
            Some(_) => Ok(word + ONE),
        }
    }

    /// Sends if nobody need be waited for.
    #[track_caller]
    pub(super) fn try_send(&self, value: T) -> Result<(), (T, Refused)> {
        let taken = match (&self.places, self.room) {
            (Some(_), _) | (None, Room::Rendezvous) => self.take_place(false),
            (None, _) => return self.send(value).map_err(|value| (value, Refused::Gone)),
        };
        match taken {
            Ok(()) => {
                self.add(value);
                Ok(())
            }
            Err(why) => Err((value, why)),
        }
    }

    /// Links a message whose place was just taken.
    #[track_caller]
    fn add(&self, value: T) {
        let node = Node::boxed(Some(value));
        // SAFETY: boxed just now, and not linked yet.
        ops::leave_clock(unsafe { node.as_ref() }.next_is.at());
        let mut tail = self.tail();
        let before = std::mem::replace(&mut tail.last, node);
        tail.sent += 1;
        let over = matches!(self.room, Room::Counted(limit) if tail.sent > limit);
        // SAFETY: the receiver frees a node only after its `next_is` was set, which for `before` is done below.
        let before = unsafe { before.as_ref() };
        before.next.set(node.as_ptr());
        drop(tail);
        if over {
            ops::learn(FULL_KEY);
        }
        // That the node was made before is known by its place in the list. It must not order anything else: sends of different threads are not ordered.
        let _clocks = ops::with_clocks(before.next_is.at(), size_of::<Word32>());
        before.next_is.rmw(Rmw::Or, MESSAGE, Release, Label::ChannelSent);
    }

    /// Of what tells one end that the other one is gone: std's may see that by a relaxed load; those of a rendezvous see it under a lock.
    fn order_of_an_end(&self) -> Ordering {
        if self.room == Room::Rendezvous { Release } else { Relaxed }
    }

    /// One sender more.
    #[track_caller]
    pub(super) fn add_sender(&self) {
        let old = if sees_senders() {
            self.senders.rmw(Rmw::Add, 1, Relaxed, Label::ChannelClone)
        } else {
            self.senders.raw().fetch_add(1, Relaxed)
        };
        if old > u32::MAX / 2 {
            std::process::abort(); // as std: so many can only have been forgotten
        }
    }

    /// A sender goes. After the last one the receiver gets no more messages.
    #[track_caller]
    pub(super) fn remove_sender(&self) {
        if sees_senders() {
            if self.senders.rmw(Rmw::Sub, 1, AcqRel, Label::ChannelDrop) == 1 {
                let order = self.order_of_an_end();
                let old = self.word.rmw(Rmw::Or, CLOSED, order, Label::ChannelClosed);
                let last = self.tail().last;
                // SAFETY: a node is freed only after its `next_is` was set: here, since there are no other senders.
                unsafe { last.as_ref() }.next_is.rmw(Rmw::Or, NONE, order, Label::ChannelClosed);
                if old & GONE == 0 && self.leaves_messages() && self.has_done() {
                    self.empty();
                }
            }
        } else if self.senders.raw().fetch_sub(1, AcqRel) == 1 {
            let mut tail = self.tail();
            tail.closed = true;
            let is_awaited = ptr::eq(tail.awaited, tail.last.as_ptr());
            drop(tail);
            if is_awaited {
                ops::learn(SENDERS_KEY);
            }
        }
    }
}

/// Is the end of a sender an event?
fn sees_senders() -> bool {
    !ops::controlled() || ops::learned(SENDERS_KEY)
}

/// What the receiver does: one thread at a time, which has it. And after its end the last sender.
impl<T> Channel<T> {
    fn head(&self) -> &Node<T> {
        // SAFETY: only the receiver's thread is here, and it alone frees nodes, in `take`, from which no such reference is used.
        unsafe { (*self.head.get()).as_ref() }
    }

    /// The receiver is about to wait as std's does, if there is no message.
    #[track_caller]
    pub(super) fn parks(&self) {
        if has_token_of_park() && self.is_empty() {
            may_use_token();
        }
    }

    /// Would a receive have to wait?
    #[track_caller]
    fn is_empty(&self) -> bool {
        if self.room != Room::Rendezvous {
            return self.head().next_is.load(Relaxed, Label::ChannelRecv) == 0;
        }
        self.looks_at_senders();
        self.word.load(Relaxed, Label::ChannelRecv) & CLOSED == 0
    }

    /// The next message, once it is there; `None` when there will be none.
    #[track_caller]
    pub(super) fn receive(&self) -> Option<T> {
        let watched = !sees_senders();
        if watched {
            let mut tail = self.tail();
            tail.awaited = self.head();
            let is_over = tail.closed && ptr::eq(tail.awaited, tail.last.as_ptr());
            drop(tail);
            if is_over {
                ops::learn(SENDERS_KEY);
            }
        }
        let next_is = self.head().next_is.wait(NEXT, Acquire, Label::ChannelRecv);
        if watched {
            self.tail().awaited = ptr::null();
        }
        self.received(next_is)
    }

    /// As [`receive`](Self::receive), for at most until `deadline`; outside of a check.
    pub(super) fn receive_until(&self, deadline: Option<std::time::Instant>) -> Option<Option<T>> {
        let next_is = self.head().next_is.wait_until(NEXT, deadline)?;
        Some(self.received(next_is))
    }

    #[track_caller]
    fn received(&self, next_is: u32) -> Option<T> {
        if next_is != MESSAGE {
            self.ended.set(next_is == NONE);
            return None; // also when the execution is torn down
        }
        let value = self.take()?;
        if let Some(places) = &self.places {
            places.free(self.received.get() - 1);
        }
        Some(value)
    }

    /// Takes the next message off the list; `None` only if the execution is torn down.
    fn take(&self) -> Option<T> {
        let before = self.head.get();
        // SAFETY: only the receiver's thread is here, and `next_is` of this node was seen set: nobody else uses the node any more.
        let next = NonNull::new(unsafe { (*before).as_ref() }.next.get())?;
        // SAFETY: as above; nodes are boxed, and this one is not reached again.
        drop(unsafe { Box::from_raw(before.replace(next).as_ptr()) });
        self.received.set(self.received.get() + 1);
        self.head().value.take()
    }

    /// Is there a message, or a send that has begun, as far as the receiver can know? `Err` when there will be none.
    #[track_caller]
    pub(super) fn is_any(&self) -> Result<bool, ()> {
        if self.ended.get() {
            return Err(());
        }
        let word = self.word.load(Acquire, Label::ChannelTryRecv);
        debug_assert!(self.room != Room::Rendezvous, "a rendezvous keeps no messages");
        if word / ONE != self.received.get() {
            return Ok(true);
        }
        self.looks_at_senders();
        if word & CLOSED != 0 { Err(()) } else { Ok(false) }
    }

    /// From here on it matters whether there is a sender.
    pub(super) fn looks_at_senders(&self) {
        if !sees_senders() {
            ops::learn(SENDERS_KEY);
        }
    }

    /// The receiver goes: what was sent is dropped, what is sent from now on is refused.
    #[track_caller]
    pub(super) fn end(&self) {
        let old = self.word.rmw(Rmw::Or, GONE, self.order_of_an_end(), Label::ChannelGone);
        if let (Some(places), Room::Bounded(bound)) = (&self.places, self.room)
            && old / ONE - self.received.get() == u64::from(bound)
        {
            places.give_up(old / ONE);
        }
        // As in std, if there was no sender any more then whoever has done with the channel last drops what was left in it. A bounded one is emptied here.
        if old & CLOSED != 0 && self.leaves_messages() && !self.has_done() {
            return;
        }
        self.empty();
    }

    /// Drops the messages. Nobody sends any more, and whoever has taken a place has linked its message: that is no event of its own.
    #[track_caller]
    fn empty(&self) {
        let leaks = Leaks(&self.leaks);
        let last = self.tail().last;
        while !ptr::eq(self.head(), last.as_ptr())
            && self.head().next_is.wait(NEXT, Acquire, Label::ChannelEmptied) == MESSAGE
        {
            let Some(value) = self.take() else { break };
            if self.may_be_left() {
                ops::learn(SENDERS_KEY);
                ops::learn(LEFT_KEY);
            }
            drop(value);
        }
        std::mem::forget(leaks);
    }

    /// Can anybody tell that messages are left in a channel that its receiver need not empty?
    fn may_be_left(&self) -> bool {
        self.room == Room::Counted(usize::MAX) && needs_drop::<T>()
    }

    /// Is it known that some may be?
    fn leaves_messages(&self) -> bool {
        self.may_be_left() && ops::learned(LEFT_KEY)
    }

    /// The caller, the receiver or the last sender, has done with the channel; whether the other one had before.
    #[track_caller]
    fn has_done(&self) -> bool {
        self.done.rmw(Rmw::Swap, 1, AcqRel, Label::ChannelClosed) == 1
    }
}

/// What is in a channel is leaked when this is dropped: a message panicked that was to be dropped.
struct Leaks<'a>(&'a Cell<bool>);

impl Drop for Leaks<'_> {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

/// Waits until it is known what comes next.
const NEXT: Guard = Guard { test: Test::Not { mask: !0, unwanted: 0 }, update: Update::KeepAdd { keep: !0, add: 0 } };

impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        if self.leaks.get() {
            return;
        }
        let mut node = self.head.get_mut().as_ptr();
        while !node.is_null() {
            // SAFETY: nodes are boxed, each is the `next` of one other, and nobody else has the channel.
            let owned = unsafe { Box::from_raw(node) };
            node = owned.next.get();
        }
    }
}
