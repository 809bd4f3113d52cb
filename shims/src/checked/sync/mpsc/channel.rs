//! A channel: a list of messages that grows at one end, and a word through which its ends meet.
//!
//! A send takes its place by a read-modify-write of `word`, links its message, which is plain memory ordered by that, and says in the message
//! before that it is there. So the orders of sends are explored, and a receiver that waits for the next message has only one event to wait for.
//!
//! What `word` holds beside two flags depends on who can be held up:
//! - [`Room::Counted`]: how many messages were sent. Nobody waits for room.
//! - [`Room::Bounded`]: how many more there is room for. A send waits for room, a receive makes some.
//! - [`Room::Rendezvous`]: whether the receiver is here. A send waits for it.
//!
//! Two things are no events until it is learned that somebody can see them: a bounded channel counts until more messages were sent than it has room
//! for, and who was the last sender matters when a receiver comes to a channel without messages.

use std::cell::{Cell, UnsafeCell};
use std::collections::VecDeque;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mc_runtime::ops::{self, Guard, Label, Rmw, Test, Update};

use crate::checked::word::Word32;

/// In `word`: there is no receiver any more.
pub(super) const GONE: u32 = 1;
/// In `word`: there is no sender any more.
pub(super) const CLOSED: u32 = 2;
/// In `word`, one message, or room for one.
const ONE: u32 = 4;
/// In the `word` of a rendezvous: the receiver waits.
pub(super) const WAITING: u32 = 4;
/// In the `word` of a rendezvous: the receiver looks whether a sender waits.
pub(super) const POLLING: u32 = 8;

/// In a node's `next_is`: the next message is there.
const MESSAGE: u32 = 1;
/// In a node's `next_is`: there will be none.
const NONE: u32 = 2;

/// Learned when somebody can see who was the last sender.
const SENDERS_KEY: u64 = u64::from_le_bytes(*b"senders\0") | 1;
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
        match u32::try_from(bound).ok().filter(|bound| *bound < u32::MAX / ONE) {
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
    /// Of a bounded channel: for each message that was received, and whose place was not taken again, a word that says so.
    places: VecDeque<Box<Word32>>,
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
    pub(super) word: Word32,
    senders: Word32,
    pub(super) room: Room,
    /// Held only between two events: under control it is always free.
    tail: Mutex<Tail<T>>,
    /// The node before the next message. Only the receiver is here.
    head: UnsafeCell<NonNull<Node<T>>>,
    /// How many messages were received, in units of [`ONE`]. Only the receiver is here.
    received: Cell<u32>,
    /// The receiver has seen that there will be no more.
    ended: Cell<bool>,
}

// SAFETY: the list's end is behind a lock, its head is used by the one receiver, which is not `Sync`; messages move from thread to thread.
unsafe impl<T: Send> Send for Channel<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Channel<T> {}

impl<T> Channel<T> {
    pub(super) fn new(room: Room) -> Self {
        let stub = Node::boxed(None);
        let tail = Tail { last: stub, sent: 0, places: VecDeque::new(), awaited: ptr::null(), closed: false };
        let word = match room {
            Room::Bounded(bound) => bound * ONE,
            Room::Counted(_) | Room::Rendezvous => 0,
        };
        Self {
            word: Word32::new(word),
            senders: Word32::new(1),
            room,
            tail: Mutex::new(tail),
            head: UnsafeCell::new(stub),
            received: Cell::new(0),
            ended: Cell::new(false),
        }
    }

    fn tail(&self) -> MutexGuard<'_, Tail<T>> {
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends, and waits for room or for the receiver if it must.
    #[track_caller]
    pub(super) fn send(&self, value: T) -> Result<(), T> {
        let room = match self.room {
            Room::Counted(_) => self.word.rmw(Rmw::Add, ONE, Relaxed, Label::ChannelSend),
            Room::Bounded(_) => {
                let test = Test::Not { mask: !CLOSED, unwanted: 0 };
                let update = Update::KeepAdd { keep: !0, add: ONE.wrapping_neg() };
                self.word.wait(Guard { test, update }, Relaxed, Label::ChannelSend)
            }
            Room::Rendezvous => {
                let test = Test::Not { mask: GONE | WAITING | POLLING, unwanted: 0 };
                let update = Update::KeepAdd { keep: !(WAITING | POLLING), add: 0 };
                self.word.wait(Guard { test, update }, Acquire, Label::ChannelSend)
            }
        };
        if room & GONE != 0 {
            return Err(value);
        }
        self.add(value);
        Ok(())
    }

    /// Sends if nobody need be waited for.
    #[track_caller]
    pub(super) fn try_send(&self, value: T) -> Result<(), (T, Refused)> {
        if let Room::Counted(_) = self.room {
            return self.send(value).map_err(|value| (value, Refused::Gone));
        }
        let mut room = self.word.load(Relaxed, Label::ChannelSend);
        loop {
            if room & GONE != 0 {
                return Err((value, Refused::Gone));
            }
            let has = match self.room {
                Room::Rendezvous => room & WAITING != 0,
                Room::Counted(_) | Room::Bounded(_) => room >= ONE,
            };
            if !has {
                return Err((value, Refused::Full));
            }
            // `WAITING` is taken back, or room for one.
            let order = if self.room == Room::Rendezvous { Acquire } else { Relaxed };
            match self.word.compare_exchange(room, room - ONE, order, Relaxed, Label::ChannelSend) {
                Ok(_) => break,
                Err(found) => room = found,
            }
        }
        self.add(value);
        Ok(())
    }

    /// Links a message whose place was just taken.
    #[track_caller]
    fn add(&self, value: T) {
        let node = Node::boxed(Some(value));
        // SAFETY: boxed just now, and not linked yet.
        ops::leave_clock(unsafe { node.as_ref() }.next_is.at());
        let mut tail = self.tail();
        let place = match self.room {
            Room::Bounded(bound) if tail.sent >= bound as usize => tail.places.pop_front(),
            _ => None,
        };
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
        // Whoever sends comes after the receive that freed its place, as with std's channel, though std does not promise it: not after later ones.
        if let Some(place) = place {
            ops::with_clocks(place.at(), size_of::<Word32>(), || {
                place.wait(NEXT, Acquire, Label::ChannelPlace);
            });
        }
        // That the node was made before is known by its place in the list. It must not order anything else: sends of different threads are not ordered.
        ops::with_clocks(before.next_is.at(), size_of::<Word32>(), || {
            before.next_is.rmw(Rmw::Or, MESSAGE, Release, Label::ChannelSent);
        });
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
                self.word.rmw(Rmw::Or, CLOSED, order, Label::ChannelDrop);
                let last = self.tail().last;
                // SAFETY: a node is freed only after its `next_is` was set: here, since there are no other senders.
                unsafe { last.as_ref() }.next_is.rmw(Rmw::Or, NONE, order, Label::ChannelDrop);
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

/// What the receiver does. One thread at a time, which has the receiver.
impl<T> Channel<T> {
    fn head(&self) -> &Node<T> {
        // SAFETY: only the receiver's thread is here, and it alone frees nodes, in `take`, from which no such reference is used.
        unsafe { (*self.head.get()).as_ref() }
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

    fn received(&self, next_is: u32) -> Option<T> {
        if next_is != MESSAGE {
            self.ended.set(next_is == NONE);
            return None; // also when the execution is torn down
        }
        let value = self.take()?;
        if let Room::Bounded(_) = self.room {
            let place = Box::new(Word32::new(0));
            ops::leave_clock(place.at());
            place.store(1, Release, Label::ChannelPlace);
            self.tail().places.push_back(place);
            self.word.rmw(Rmw::Add, ONE, Relaxed, Label::ChannelRoom);
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
        self.received.set(self.received.get().wrapping_add(ONE));
        self.head().value.take()
    }

    /// Is there a message, or a send that has begun, as far as the receiver can know? `Err` when there will be none.
    #[track_caller]
    pub(super) fn is_any(&self) -> Result<bool, ()> {
        if self.ended.get() {
            return Err(());
        }
        let word = self.word.load(Acquire, Label::ChannelTryRecv);
        let is_any = match self.room {
            Room::Bounded(bound) => word & !(GONE | CLOSED) != bound * ONE,
            Room::Counted(_) => word & !(GONE | CLOSED) != self.received.get(),
            Room::Rendezvous => unreachable!("a rendezvous keeps no messages"),
        };
        if is_any {
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
        self.word.rmw(Rmw::Or, GONE, self.order_of_an_end(), Label::ChannelGone);
        let last = self.tail().last;
        while !ptr::eq(self.head(), last.as_ptr())
            && self.head().next_is.wait(NEXT, Acquire, Label::ChannelGone) == MESSAGE
        {
            let Some(value) = self.take() else { break };
            drop(value);
        }
    }
}

/// Waits until it is known what comes next.
const NEXT: Guard = Guard { test: Test::Not { mask: !0, unwanted: 0 }, update: Update::KeepAdd { keep: !0, add: 0 } };

impl<T> Drop for Channel<T> {
    fn drop(&mut self) {
        let mut node = self.head.get_mut().as_ptr();
        while !node.is_null() {
            // SAFETY: nodes are boxed, each is the `next` of one other, and nobody else has the channel.
            let owned = unsafe { Box::from_raw(node) };
            node = owned.next.get();
        }
    }
}
