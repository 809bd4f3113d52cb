//! `std::sync::mpsc`: channels of any number of senders and one receiver.
//!
//! A send happens before the receive of its message. On a channel of capacity 0, what the receiver did before it came happens before the send
//! returns. std promises no more: a `try_recv` that finds no message orders nothing, nor does an operation that fails because the other side
//! is gone. Its channels with room for more do one thing besides, and so do these: a send comes after the receive that freed its place.

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

pub use iter::{IntoIter, Iter, TryIter};
pub use receiver::Receiver;
pub use sender::{Sender, SyncSender};

mod channel;
mod iter;
mod places;
mod receiver;
mod sender;

use crate::checked::sync::Arc;
use channel::{Channel, Room};

/// A channel that never holds up a sender.
#[must_use]
#[track_caller]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = ends(Room::Counted(usize::MAX));
    (Sender::new(sender), receiver)
}

/// A channel with room for `bound` messages, beyond which a send waits; with 0, it waits until its message is received.
#[must_use]
#[track_caller]
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    let (sender, receiver) = ends(Room::of(bound));
    (SyncSender::new(sender), receiver)
}

fn ends<T>(room: Room) -> (Arc<Channel<T>>, Receiver<T>) {
    let channel = Arc::new(Channel::new(room));
    (channel.clone(), Receiver::new(channel))
}
