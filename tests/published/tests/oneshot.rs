//! oneshot 0.1.12: a channel for one message.

use mc::{hint, thread};
use oneshot::{RecvError, TryRecvError};

#[mc::test]
fn a_message_arrives() {
    let (sender, receiver) = oneshot::channel::<u32>();
    let other = thread::spawn(move || receiver.recv());
    sender.send(7).unwrap();
    assert_eq!(other.join().unwrap(), Ok(7));
}

#[mc::test]
fn a_message_is_polled_for() {
    let (sender, receiver) = oneshot::channel::<u32>();
    let other = thread::spawn(move || {
        loop {
            match receiver.try_recv() {
                Ok(message) => return message,
                Err(TryRecvError::Empty) => hint::spin_loop(),
                Err(TryRecvError::Disconnected) => panic!("the sender has sent"),
            }
        }
    });
    sender.send(7).unwrap();
    assert_eq!(other.join().unwrap(), 7);
}

#[mc::test]
fn a_sender_that_goes_wakes_the_receiver() {
    let (sender, receiver) = oneshot::channel::<u32>();
    let other = thread::spawn(move || receiver.recv());
    drop(sender);
    assert_eq!(other.join().unwrap(), Err(RecvError));
}

#[mc::test]
fn a_message_to_a_receiver_that_goes_comes_back_or_is_dropped() {
    let (sender, receiver) = oneshot::channel::<Box<u32>>();
    let other = thread::spawn(move || drop(receiver));
    if let Err(back) = sender.send(Box::new(7)) {
        assert_eq!(*back.into_inner(), 7);
    }
    other.join().unwrap();
}
