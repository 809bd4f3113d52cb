use std::time::Duration;

use subject::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel};
use subject::sync::{Arc, Barrier};
use subject::thread;

#[test]
fn messages_come_in_the_order_in_which_they_were_sent() {
    let (sender, receiver) = channel();
    let thread = thread::spawn(move || (0..100).for_each(|n| sender.send(n).unwrap()));
    assert_eq!(receiver.recv(), Ok(0));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), (1..100).collect::<Vec<_>>());
    thread.join().unwrap();
    assert_eq!(receiver.recv(), Err(RecvError));
}

#[test]
fn a_channel_may_be_shared_by_several_senders() {
    let (sender, receiver) = channel();
    let threads: Vec<_> = (0..10)
        .map(|n| {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap())
        })
        .collect();
    let mut got: Vec<i32> = (0..10).map(|_| receiver.recv().unwrap()).collect();
    got.sort_unstable();
    assert_eq!(got, (0..10).collect::<Vec<_>>());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
}

#[test]
fn one_sender_may_be_used_by_reference_from_several_threads() {
    let (sender, receiver) = channel();
    thread::scope(|scope| {
        for n in [1, 2, 4] {
            let sender = &sender;
            scope.spawn(move || sender.send(n).unwrap());
        }
    });
    drop(sender);
    assert_eq!(receiver.into_iter().sum::<i32>(), 7);
}

#[test]
fn a_send_without_a_receiver_gives_the_message_back() {
    let (sender, receiver) = channel();
    drop(receiver);
    let SendError(message) = sender.send(String::from("back")).unwrap_err();
    assert_eq!(message, "back");
    let (sender, receiver) = sync_channel(1);
    drop(receiver);
    assert_eq!(sender.try_send(5), Err(TrySendError::Disconnected(5)));
    assert_eq!(sender.send(6), Err(SendError(6)));
}

#[test]
fn looking_once_does_not_wait() {
    let (sender, receiver) = channel();
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    sender.send(1).unwrap();
    assert_eq!(receiver.try_recv(), Ok(1));
    drop(sender);
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
}

#[test]
fn what_was_sent_before_the_end_still_comes() {
    let (sender, receiver) = channel();
    sender.send(1).unwrap();
    sender.send(2).unwrap();
    drop(sender);
    assert_eq!((receiver.try_recv(), receiver.recv(), receiver.recv()), (Ok(1), Ok(2), Err(RecvError)));
}

#[test]
fn a_bound_is_the_number_of_messages_that_need_no_receiver() {
    let (sender, receiver) = sync_channel(2);
    sender.send(1).unwrap();
    assert_eq!(sender.try_send(2), Ok(()));
    assert_eq!(sender.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!(receiver.recv(), Ok(1));
    assert_eq!(sender.try_send(3), Ok(()));
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn a_full_channel_holds_its_sender_up() {
    let (sender, receiver) = sync_channel(1);
    let thread = thread::spawn(move || (0..5).for_each(|n| sender.send(n).unwrap()));
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    thread.join().unwrap();
}

#[test]
fn a_rendezvous_needs_both() {
    let (sender, receiver) = sync_channel(0);
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    let thread = thread::spawn(move || {
        sender.send(53).unwrap();
        sender.send(54).unwrap();
    });
    assert_eq!((receiver.recv(), receiver.recv(), receiver.recv()), (Ok(53), Ok(54), Err(RecvError)));
    thread.join().unwrap();
}

#[test]
fn looking_long_enough_at_a_rendezvous_meets_the_sender() {
    let (sender, receiver) = sync_channel(0);
    let thread = thread::spawn(move || sender.send(1).unwrap());
    let got = loop {
        match receiver.try_recv() {
            Ok(got) => break got,
            Err(TryRecvError::Empty) => thread::yield_now(),
            Err(TryRecvError::Disconnected) => unreachable!(),
        }
    };
    assert_eq!(got, 1);
    thread.join().unwrap();
}

#[test]
fn a_waiting_receiver_lets_a_sender_pass_that_does_not_wait() {
    let (sender, receiver) = sync_channel(0);
    let thread = thread::spawn(move || receiver.recv());
    while let Err(error) = sender.try_send(9) {
        assert_eq!(error, TrySendError::Full(9));
        thread::yield_now();
    }
    assert_eq!(thread.join().unwrap(), Ok(9));
}

#[test]
fn a_receive_ends_when_its_time_is_over() {
    let (sender, receiver) = channel();
    assert_eq!(receiver.recv_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
    sender.send(1).unwrap();
    assert_eq!(receiver.recv_timeout(Duration::from_secs(100)), Ok(1));
    drop(sender);
    assert_eq!(receiver.recv_timeout(Duration::from_secs(100)), Err(RecvTimeoutError::Disconnected));
    let (sender, receiver) = sync_channel(0);
    assert_eq!(receiver.recv_timeout(Duration::from_millis(2)), Err(RecvTimeoutError::Timeout));
    assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
    let thread = thread::spawn(move || sender.send(2).unwrap());
    assert_eq!(receiver.recv_timeout(Duration::MAX), Ok(2));
    thread.join().unwrap();
}

#[test]
fn a_sender_that_waits_is_told_when_the_receiver_goes() {
    for bound in [0, 1] {
        let (sender, receiver) = sync_channel(bound);
        (0..bound).for_each(|n| sender.send(n).unwrap());
        let started = Arc::new(Barrier::new(2));
        let theirs = started.clone();
        let thread = thread::spawn(move || {
            theirs.wait();
            sender.send(7)
        });
        started.wait();
        thread::sleep(Duration::from_millis(3));
        drop(receiver);
        assert_eq!(thread.join().unwrap(), Err(SendError(7)));
    }
}

#[test]
fn what_nobody_received_is_dropped_with_the_receiver() {
    let (message, copy) = (Arc::new(()), Arc::new(()));
    let (sender, receiver) = channel();
    sender.send(message.clone()).unwrap();
    sender.send(copy.clone()).unwrap();
    drop(receiver);
    assert_eq!((Arc::strong_count(&message), Arc::strong_count(&copy)), (1, 1));
    assert!(sender.send(message.clone()).is_err());
    assert_eq!(Arc::strong_count(&message), 1);
}

#[test]
fn iterators_end_with_the_senders() {
    let (sender, receiver) = channel();
    thread::spawn(move || [1, 2, 3].map(|n| sender.send(n).unwrap()));
    let mut sum = 0;
    for n in &receiver {
        sum += n;
    }
    assert_eq!((sum, receiver.try_iter().next(), receiver.iter().next()), (6, None, None));
    assert_eq!(receiver.into_iter().next(), None);
}

#[test]
fn a_channel_may_carry_one_end_of_another() {
    let (outer, inbox) = channel();
    let thread = thread::spawn(move || {
        let (answer, answers) = channel();
        outer.send((20, answer)).unwrap();
        answers.recv().unwrap()
    });
    let (question, answer) = inbox.recv().unwrap();
    answer.send(question + 1).unwrap();
    assert_eq!(thread.join().unwrap(), 21);
}

#[test]
fn values_of_any_size_and_alignment_go_through() {
    #[repr(align(128))]
    #[derive(Debug, PartialEq, Clone, Copy)]
    struct Aligned([u8; 200]);
    let (sender, receiver) = sync_channel(3);
    sender.send(Aligned([7; 200])).unwrap();
    assert_eq!(receiver.recv(), Ok(Aligned([7; 200])));
    let (sender, receiver) = channel();
    (0..3).for_each(|_| sender.send(()).unwrap());
    drop(sender);
    assert_eq!(receiver.iter().count(), 3);
}

#[test]
fn errors_say_what_std_s_say() {
    let shown = |error: &dyn std::error::Error| format!("{error} {error:?}");
    assert_eq!(shown(&SendError(1)), "sending on a closed channel SendError { .. }");
    assert_eq!(shown(&TrySendError::Full(1)), "sending on a full channel TrySendError::Full(..)");
    assert_eq!(shown(&RecvError), "receiving on a closed channel RecvError");
    assert_eq!(shown(&TryRecvError::Empty), "receiving on an empty channel Empty");
    assert_eq!(shown(&RecvTimeoutError::Timeout), "timed out waiting on channel Timeout");
    assert_eq!(TryRecvError::from(RecvError), TryRecvError::Disconnected);
    assert_eq!(RecvTimeoutError::from(RecvError), RecvTimeoutError::Disconnected);
    assert_eq!(TrySendError::from(SendError(1)), TrySendError::Disconnected(1));
}

#[test]
fn ends_say_what_they_are() {
    let (sender, receiver) = channel::<u8>();
    assert_eq!(format!("{sender:?} {receiver:?}"), "Sender { .. } Receiver { .. }");
    assert_eq!(format!("{:?}", receiver.iter()), "Iter { rx: Receiver { .. } }");
    assert_eq!(format!("{:?}", receiver.try_iter()), "TryIter { rx: Receiver { .. } }");
    assert_eq!(format!("{:?}", receiver.into_iter()), "IntoIter { rx: Receiver { .. } }");
    assert_eq!(format!("{:?}", sync_channel::<u8>(1).0), "SyncSender { .. }");
}

#[test]
fn many_senders_and_a_small_bound() {
    let (sender, receiver) = sync_channel(2);
    let threads: Vec<_> = (0..8_u32)
        .map(|n| {
            let sender = sender.clone();
            thread::spawn(move || (0..50).for_each(|m| sender.send(n * 50 + m).unwrap()))
        })
        .collect();
    drop(sender);
    let mut got: Vec<u32> = receiver.iter().collect();
    got.sort_unstable();
    assert_eq!(got, (0..400).collect::<Vec<_>>());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn many_rendezvous() {
    let (sender, receiver) = sync_channel(0);
    let threads: Vec<_> = (0..4_u32)
        .map(|n| {
            let sender = sender.clone();
            thread::spawn(move || (0..50).for_each(|m| sender.send(n * 50 + m).unwrap()))
        })
        .collect();
    drop(sender);
    let mut got: Vec<u32> = Vec::new();
    loop {
        match receiver.recv_timeout(Duration::from_micros(50)) {
            Ok(message) => got.push(message),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    got.sort_unstable();
    assert_eq!(got, (0..200).collect::<Vec<_>>());
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
