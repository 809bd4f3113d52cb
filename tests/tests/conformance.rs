//! The native engine, through the real shims, against the executable specification: the same number of executions and the
//! same outcomes on every litmus program and on the random programs that the repository keeps.
//!
//! One test per corpus and memory model. Without `--cfg mc` there is none, for the checked types are std's then: `e2e` runs cargo
//! again with it, in the folder `mc` of the target directory.

#[cfg(mc)]
mod checked {
    use std::collections::BTreeSet;
    use std::sync::{Mutex, PoisonError};

    use mc_runtime::options::{MemoryModel, Reduction, Reductions, Threads};
    use mc_tests::conformance::Tally;
    use mc_tests::corpus::{self, Entry};
    use mc_tests::reductions::{self, Sample};
    use mc_tests::shims;

    /// One test at a time: what another thread of the process writes to its statics looks like an effect of a spin loop's round,
    /// and then the loop is only found to repeat one round later.
    static TURN: Mutex<()> = Mutex::new(());

    fn compare_all(entries: &[Entry], model: MemoryModel) {
        compare_all_on(Threads::Coroutines, entries, model);
    }

    fn compare_all_on(threads: Threads, entries: &[Entry], model: MemoryModel) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tally = Tally::on(threads);
        for entry in entries {
            tally.add(entry, model);
        }
        if let Err(text) = tally.verdict() {
            panic!("{text}");
        }
    }

    #[test]
    fn a_program_of_fences_alone_has_one_outcome_the_empty_one() {
        let one = r#"{"complete":1,"blocked":0,"finals":[[]]}"#; // seed 1009936 of generate.py
        let line = format!(
            r#"{{"seed":1009936,"family":"atomics","program":[[{{"op":"fence","ord":"sc"}}],[{{"op":"fence","ord":"sc"}}]],
            "columns":[],"expect":{{"sc":{one},"rc20":{one}}}}}"#
        );
        let entry = Entry::from_line(&line).expect("it is an entry");
        compare_all(&[entry], MemoryModel::Rc20);
    }

    #[test]
    fn litmus_programs_under_rc20() {
        compare_all(&corpus::litmus(), MemoryModel::Rc20);
    }

    #[test]
    fn litmus_programs_under_sc() {
        compare_all(&corpus::litmus(), MemoryModel::Sc);
    }

    #[test]
    fn litmus_programs_under_tso() {
        compare_all(&corpus::litmus(), MemoryModel::Tso);
    }

    #[test]
    fn random_programs_under_tso() {
        compare_all(&corpus::random(), MemoryModel::Tso);
    }

    #[test]
    fn programs_of_symmetric_threads_under_rc20() {
        compare_all(&corpus::symmetric(), MemoryModel::Rc20);
    }

    #[test]
    fn programs_of_symmetric_threads_under_sc() {
        compare_all(&corpus::symmetric(), MemoryModel::Sc);
    }

    #[test]
    fn programs_of_readers_and_writers_under_rc20() {
        compare_all(&corpus::readers(), MemoryModel::Rc20);
    }

    #[test]
    fn programs_of_readers_and_writers_under_sc() {
        compare_all(&corpus::readers(), MemoryModel::Sc);
    }

    #[test]
    fn random_programs_under_rc20() {
        compare_all(&corpus::random(), MemoryModel::Rc20);
    }

    #[test]
    fn shims_have_the_executions_of_what_they_do_in_the_specification() {
        let specified = shims::specified();
        let ours: BTreeSet<_> = shims::cases().map(|(name, _)| name).collect();
        assert_eq!(ours, specified.keys().map(String::as_str).collect(), "`shims.py` has the same cases");
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let models = [MemoryModel::Rc20, MemoryModel::Sc];
        let all = shims::cases().flat_map(|case| models.map(|model| (case, model)));
        let differences = all.filter_map(|((name, case), model)| {
            shims::difference(name, case, model, specified[name][&model.to_string()])
        });
        let differences: Vec<_> = differences.collect();
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }

    #[test]
    fn litmus_programs_are_the_same_on_threads_of_the_operating_system() {
        for model in [MemoryModel::Rc20, MemoryModel::Sc, MemoryModel::Tso] {
            compare_all_on(Threads::Os, &corpus::litmus(), model);
        }
    }

    #[test]
    fn random_programs_are_the_same_on_threads_of_the_operating_system() {
        let few = |entries: Vec<Entry>| entries.into_iter().step_by(10).collect::<Vec<_>>();
        compare_all_on(Threads::Os, &few(corpus::random()), MemoryModel::Rc20);
        compare_all_on(Threads::Os, &corpus::symmetric(), MemoryModel::Rc20);
    }

    /// With the axioms one in ten of what takes longest: it is compared without them, too.
    const SHARE: u64 = if cfg!(feature = "axioms") { 10 } else { 1 };

    /// Explores random programs with the reduction and without it: in `most` of them at least, it leaves executions out.
    fn compare_without(reduction: Reduction, sample: fn(u64) -> Sample, model: MemoryModel, programs: u64, most: u64) {
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut wrong, mut fewer, mut too_long) = (Vec::new(), 0, 0);
        for seed in 0..programs {
            let sample = sample(seed);
            let find = |reductions| reductions::find(&sample, model, reductions);
            // What threads have seen together is told where the engine does not see it.
            let all = Reductions::default();
            let all = if reduction == Reduction::Observer { all } else { all.without(Reduction::Observer) };
            // Without the reduction first: it has more executions.
            let Some((without, with)) = find(all.without(reduction)).and_then(|without| Some((without, find(all)?)))
            else {
                too_long += 1;
                continue;
            };
            fewer += u64::from(with.is_fewer_than(&without));
            if !with.is_less_of(&without) {
                wrong.push(format!("seed {seed}\n{sample}{with:?}\nwithout the reduction {without:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} programs, the first: {}", wrong.len(), wrong[0]);
        assert!(fewer >= most, "only {fewer} have fewer executions");
        assert!(too_long <= programs / 20, "{too_long} of {programs} have too many executions");
    }

    #[test]
    fn what_is_left_out_since_nobody_reads_it_changes_no_outcome() {
        compare_without(Reduction::Unused, reductions::unused, MemoryModel::Rc20, 3_000, 1_500);
    }

    #[test]
    fn which_of_several_equal_writes_is_read_changes_no_outcome() {
        for model in [MemoryModel::Rc20, MemoryModel::Tso, MemoryModel::Sc] {
            compare_without(Reduction::Value, reductions::values, model, 3_000 / SHARE, 250 / SHARE);
        }
    }

    #[test]
    fn what_threads_that_only_look_see_together_changes_no_outcome() {
        for model in [MemoryModel::Rc20, MemoryModel::Tso, MemoryModel::Sc] {
            compare_without(Reduction::Observer, reductions::observers, model, 3_000 / SHARE, 150 / SHARE);
        }
    }

    #[test]
    fn readers_and_writers_that_are_alike_have_all_outcomes() {
        for model in [MemoryModel::Rc20, MemoryModel::Sc] {
            compare_without(Reduction::Symmetry, reductions::alike, model, 300, 150);
        }
    }

    #[test]
    fn random_programs_under_sc() {
        compare_all(&corpus::random(), MemoryModel::Sc);
    }
}
