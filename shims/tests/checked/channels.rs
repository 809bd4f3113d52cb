//! `mpsc`: what is explored, what happens before what, and how it goes wrong.

use std::sync::atomic::AtomicUsize as Counter;
use std::sync::atomic::Ordering::Relaxed as Plain;

use mc::cell::UnsafeCell;
use mc::sync::atomic::{AtomicUsize, Ordering::*};
use mc::sync::mpsc::{RecvTimeoutError, TryRecvError, TrySendError, channel, sync_channel};
use mc::sync::{Arc, Mutex};
use mc::thread;
use mc::time::Duration;
use mc_runtime::outcome::{FailureKind, Verdict};

use super::{counterexample, fails, proved, results};

/// A cell whose accesses the checker compares.
#[derive(Default)]
struct Shared(UnsafeCell<u32>);

// SAFETY: nothing is done with the pointers, and the checker runs one thread at a time.
unsafe impl Sync for Shared {}

#[test]
fn a_message_that_is_waited_for_comes_in_one_way() {
    // Who came first makes no difference.
    proved(1, || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(5).unwrap());
        assert_eq!(receiver.recv(), Ok(5));
        thread.join().unwrap();
    });
}

#[test]
fn who_waits_for_room_comes_after_what_the_receiver_did_before_it_made_it() {
    proved(1, || {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let (sender, receiver) = sync_channel(1);
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender.send(2).unwrap();
            theirs.0.with(|_| ());
        });
        shared.0.with_mut(|_| ());
        assert_eq!([receiver.recv(), receiver.recv()], [Ok(1), Ok(2)]);
        thread.join().unwrap();
    });
}

/// Its place is that of the first message, so what the receiver does before it takes the second one need not have come before, even if the second was taken first.
#[test]
fn a_send_comes_only_after_the_receive_that_freed_its_place() {
    static SEEN: [Counter; 4] = [const { Counter::new(0) }; 4];
    let seen = results(&SEEN, || {
        let (sender, receiver) = sync_channel(2);
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            for number in 0..3 {
                sender.send(number).unwrap();
            }
            theirs.load(Relaxed)
        });
        assert_eq!(receiver.recv(), Ok(0));
        flag.store(1, Relaxed);
        assert_eq!(receiver.recv(), Ok(1));
        let comes_later = receiver.try_recv().is_err();
        let saw = thread.join().unwrap();
        SEEN[usize::from(comes_later) * 2 + saw].fetch_add(1, Plain);
    });
    assert_eq!(seen, [true; 4]);
}

#[test]
fn messages_of_several_senders_come_in_every_order() {
    // 2! orders of two messages, and nothing else: when each is received makes no difference.
    proved(2, || {
        let (sender, receiver) = channel();
        for n in [1, 2] {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap());
        }
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
    });
    // 4! / (2! 2!): each sender's own messages stay in order.
    proved(6, || {
        let (sender, receiver) = channel();
        for n in [1, 2] {
            let sender = sender.clone();
            thread::spawn(move || [n, n + 10].map(|n| sender.send(n).unwrap()));
        }
        let got = [(); 4].map(|()| receiver.recv().unwrap());
        let place = |n| got.iter().position(|m| *m == n).unwrap();
        assert!(place(1) < place(11) && place(2) < place(12));
    });
}

#[test]
fn the_last_message_is_followed_by_the_end() {
    // 2 orders of the messages, and 2 of the ends: whose is the last closes the channel.
    proved(4, || {
        let (sender, receiver) = channel();
        let other = sender.clone();
        thread::spawn(move || sender.send(1).unwrap());
        thread::spawn(move || other.send(2).unwrap());
        assert_eq!(receiver.iter().sum::<i32>(), 3);
        assert!(receiver.recv().is_err() && receiver.try_recv() == Err(TryRecvError::Disconnected));
    });
}

#[test]
fn looking_once_finds_a_message_or_none_or_the_end() {
    static SEEN: [Counter; 3] = [const { Counter::new(0) }; 3];
    let seen = results(&SEEN, || {
        let (sender, receiver) = channel();
        thread::spawn(move || _ = sender.send(1));
        let found = match receiver.try_recv() {
            Ok(message) => message,
            Err(TryRecvError::Empty) => 0,
            Err(TryRecvError::Disconnected) => unreachable!("the message comes before the end"),
        };
        SEEN[found].fetch_add(1, Plain);
        if found == 1 && receiver.try_recv() == Err(TryRecvError::Disconnected) {
            SEEN[2].fetch_add(1, Plain);
        }
    });
    assert_eq!(seen, [true; 3]);
}

#[test]
fn what_was_sent_before_is_found_although_another_send_is_under_way() {
    let body = || {
        let (sender, receiver) = channel();
        let sent = Arc::new(AtomicUsize::new(0));
        let (theirs, other) = (sent.clone(), sender.clone());
        thread::spawn(move || _ = other.send(1));
        thread::spawn(move || {
            _ = sender.send(2);
            theirs.store(1, Release);
        });
        if sent.load(Acquire) == 1 {
            assert!(receiver.try_recv().is_ok());
        }
    };
    assert_eq!(super::check(body).failures, []);
}

#[test]
fn a_send_happens_before_the_receive_of_its_message() {
    proved(1, || {
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        shared.0.with_mut(|_| ());
    });
    // The next message does not order what its sender does afterwards.
    fails(FailureKind::DataRace, || {
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        thread::spawn(move || {
            sender.send(()).unwrap();
            theirs.0.with_mut(|_| ());
        });
        receiver.recv().unwrap();
        shared.0.with_mut(|_| ());
    });
}

#[test]
fn a_bounded_channel_holds_up_its_senders() {
    // Until a send waits for room, it is as if there were no bound: the order of two messages.
    proved(2, || {
        let (sender, receiver) = sync_channel(2);
        for n in [1, 2] {
            let sender = sender.clone();
            thread::spawn(move || sender.send(n).unwrap());
        }
        assert_eq!(receiver.recv().unwrap() + receiver.recv().unwrap(), 3);
    });
    // Each send waits for the receive before: one way.
    proved(1, || {
        let (sender, receiver) = sync_channel(1);
        thread::spawn(move || [1, 2, 3].map(|n| sender.send(n).unwrap()));
        assert_eq!([(); 3].map(|()| receiver.recv().unwrap()), [1, 2, 3]);
    });
    fails(FailureKind::Deadlock, || {
        let (sender, _receiver) = sync_channel(1);
        sender.send(1).unwrap();
        sender.send(2).unwrap();
    });
}

#[test]
fn a_rendezvous_orders_both_ways() {
    proved(1, || {
        let (sender, receiver) = sync_channel(0);
        let shared = Arc::new([Shared::default(), Shared::default()]);
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs[0].0.with_mut(|_| ());
            assert_eq!(receiver.recv(), Ok(1));
            theirs[1].0.with_mut(|_| ());
        });
        shared[1].0.with_mut(|_| ());
        sender.send(1).unwrap();
        shared[0].0.with_mut(|_| ());
        thread.join().unwrap();
    });
    fails(FailureKind::Deadlock, || {
        let (sender, _receiver) = sync_channel(0);
        sender.send(1).unwrap();
    });
}

#[test]
fn a_rendezvous_without_waiting_needs_somebody_who_waits() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || receiver.recv());
        let sent = match sender.try_send(1) {
            Ok(()) => 1,
            Err(TrySendError::Full(1)) => 0,
            Err(error) => panic!("{error}"),
        };
        SEEN[sent].fetch_add(1, Plain);
        drop(sender);
        assert_eq!(thread.join().unwrap().is_ok(), sent == 1);
    });
    assert_eq!(seen, [true; 2]);
    // Neither waits, so they never meet.
    proved(1, || {
        let (sender, receiver) = sync_channel(0);
        assert_eq!(sender.try_send(1), Err(TrySendError::Full(1)));
        assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    });
}

#[test]
fn looking_once_at_a_rendezvous_meets_a_sender_that_waits() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (sender, receiver) = sync_channel(0);
        let thread = thread::spawn(move || sender.send(1).is_ok());
        let met = receiver.try_recv() == Ok(1);
        drop(receiver);
        assert_eq!(thread.join().unwrap(), met);
        SEEN[usize::from(met)].fetch_add(1, Plain);
    });
    assert_eq!(seen, [true; 2]);
}

#[test]
fn a_receive_may_time_out_before_a_message_comes() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    for bound in [None, Some(0), Some(1)] {
        static BOUND: Counter = Counter::new(0);
        BOUND.store(bound.map_or(0, |bound| bound + 1), Plain);
        let seen = results(&SEEN, || {
            let bound = BOUND.load(Plain);
            let (sender, receiver) = if bound == 0 { sync_channel(100) } else { sync_channel(bound - 1) };
            let thread = thread::spawn(move || sender.send(1).is_ok());
            let found = match receiver.recv_timeout(Duration::from_secs(1)) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => 0,
                Err(RecvTimeoutError::Disconnected) => unreachable!("the message comes before the end"),
            };
            SEEN[found].fetch_add(1, Plain);
            drop(receiver);
            thread.join().unwrap();
        });
        assert_eq!(seen, [true; 2], "{bound:?}");
    }
}

#[test]
fn a_send_is_refused_once_the_receiver_is_gone() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || sender.send(Arc::new(5)).is_ok());
        drop(receiver);
        SEEN[usize::from(thread.join().unwrap())].fetch_add(1, Plain);
    });
    assert_eq!(seen, [true; 2]);
    // A sender that waits for the receiver is woken: it was there before or comes after. One that waits for room may also see that before it waits.
    for bound in [0, 1] {
        static BOUND: Counter = Counter::new(0);
        BOUND.store(bound, Plain);
        proved(1 + bound as u64, || {
            let (sender, receiver) = sync_channel(BOUND.load(Plain));
            if BOUND.load(Plain) == 1 {
                sender.send(Box::new(1)).unwrap();
            }
            let thread = thread::spawn(move || sender.send(Box::new(2)).unwrap_err().0);
            drop(receiver);
            assert_eq!(*thread.join().unwrap(), 2);
        });
    }
}

#[test]
fn a_receiver_whose_sender_is_kept_waits_for_ever() {
    fails(FailureKind::Deadlock, || {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        assert_eq!(receiver.iter().count(), 1); // `sender` is still there
    });
}

#[test]
fn a_loop_that_looks_for_messages_is_no_endless_loop() {
    // The first look may find nothing. Whether that leaves anything behind, and so counts, is the compiler's choice, and that of what else the process does.
    let outcome = super::check(|| {
        let (sender, receiver) = channel();
        let thread = thread::spawn(move || {
            sender.send(1).unwrap();
            sender
        });
        while receiver.try_recv().is_err() {
            mc::hint::spin_loop();
        }
        thread.join().unwrap();
    });
    assert_eq!((outcome.verdict, &outcome.failures[..]), (Verdict::Proved, &[][..]));
}

/// Only messages order what was done before them; and a rendezvous has a lock.
#[test]
fn that_all_senders_are_gone_orders_nothing() {
    static SEEN: [Counter; 2] = [const { Counter::new(0) }; 2];
    let seen = results(&SEEN, || {
        let (sender, receiver) = channel::<u32>();
        let flag = Arc::new(AtomicUsize::new(0));
        let theirs = flag.clone();
        let thread = thread::spawn(move || {
            theirs.store(1, Relaxed);
            drop(sender);
        });
        assert!(receiver.recv().is_err());
        SEEN[flag.load(Relaxed)].fetch_add(1, Plain);
        thread.join().unwrap();
    });
    assert_eq!(seen, [true; 2]);
    fails(FailureKind::DataRace, || {
        let (sender, receiver) = sync_channel::<u32>(1);
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(sender);
        });
        assert!(receiver.recv().is_err());
        shared.0.with_mut(|_| ());
    });
    proved(2, || {
        let (sender, receiver) = sync_channel::<u32>(0);
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(sender);
        });
        assert!(receiver.recv().is_err());
        shared.0.with_mut(|_| ());
    });
}

/// Likewise, also where a sender may have to wait for room.
#[test]
fn that_the_receiver_is_gone_orders_nothing() {
    fails(FailureKind::DataRace, || {
        let (sender, receiver) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        // More than there is room for at once: from the first execution on, room is what is counted.
        for number in 0..2 {
            sender.send(number).unwrap();
            assert_eq!(receiver.recv(), Ok(number));
        }
        let thread = thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(receiver);
        });
        if sender.send(2).is_err() {
            shared.0.with_mut(|_| ());
        }
        thread.join().unwrap();
    });
    // Nor where the receiver made room before it went.
    fails(FailureKind::DataRace, || {
        let (sender, receiver) = sync_channel(1);
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        sender.send(1).unwrap();
        let thread = thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            assert_eq!(receiver.recv(), Ok(1));
        });
        if sender.send(2).is_err() {
            shared.0.with_mut(|_| ());
        }
        thread.join().unwrap();
    });
    proved(1, || {
        let (sender, receiver) = sync_channel(0);
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let thread = thread::spawn(move || {
            theirs.0.with_mut(|_| ());
            drop(receiver);
        });
        assert!(sender.send(2).is_err());
        shared.0.with_mut(|_| ());
        thread.join().unwrap();
    });
}

#[test]
fn a_counterexample_says_which_call_failed() {
    let text = counterexample(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        receiver.recv().unwrap();
        drop(sender);
        receiver.recv().unwrap();
    });
    assert!(text.contains("receiver.recv() fails "), "{text}");
    for row in ["Sender dropped", "channel closed"] {
        assert_eq!(text.matches(row).count(), 1, "{text}");
    }
    assert_eq!(text.matches("fails").count(), 1, "{text}");
    let text = counterexample(|| {
        let (sender, receiver) = channel();
        sender.send(1).unwrap();
        drop(receiver);
        sender.send(2).unwrap();
    });
    assert!(text.contains("sender.send() fails "), "{text}");
    for row in ["Receiver dropped", "message dropped"] {
        assert_eq!(text.matches(row).count(), 1, "{text}");
    }
    assert_eq!(text.matches("fails").count(), 1, "{text}");
    assert!(!text.contains("channel.rs"), "a place that is not the test's: {text}");
}

#[test]
fn places_of_a_counterexample_are_the_tests() {
    let texts = [
        counterexample(|| {
            let (sender, _receiver) = sync_channel(1);
            // More than it has room for, as is to be learned.
            sender.try_send(1).unwrap();
            sender.try_send(2).unwrap();
        }),
        counterexample(|| {
            let (sender, receiver) = sync_channel(1);
            sender.send(1).unwrap();
            receiver.recv().unwrap();
            assert!(sender.try_send(1).is_err());
        }),
        counterexample(|| {
            let poisoned = Mutex::new(());
            poisoned.clear_poison();
            assert!(poisoned.is_poisoned());
        }),
    ];
    for text in texts {
        for own in [" channel.rs", " places.rs", " poison.rs"] {
            assert!(!text.contains(own), "a place that is not the test's: {text}");
        }
    }
}
