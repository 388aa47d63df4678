//! What an output says of each test that failed where that is no word on the code, and of tests that couldn't be started.

use super::{TABLE, TestRun, each};
use std::borrow::Cow;

impl TestRun {
    /// With what each failure has in common; `None` where no test could be started.
    pub(super) fn explained(mut self, parts: &[Cow<'_, str>; 2]) -> Option<TestRun> {
        if self.failed == 0 {
            return Some(self);
        }
        let unrun = each(&TABLE.unrun, parts);
        let unrun = unrun.map(|(pattern, part)| pattern.regex().find_iter(part).count() as u64);
        if self.passed == 0 && unrun.sum::<u64>() >= self.failed {
            return None;
        }
        let mut causes = TABLE.causes.iter().filter(|_| self.packages);
        let cause = causes.find(|words| self.is_said_of_each(parts, words));
        self.cause = cause.map(String::as_str);
        Some(self)
    }

    /// What is printed of each package that failed has these words, as often as tests of it failed.
    fn is_said_of_each(&self, parts: &[Cow<'_, str>; 2], words: &str) -> bool {
        let mut packages = 0u64;
        for part in parts {
            let (mut said, mut failed) = (0u64, 0u64);
            for line in part.lines() {
                said += u64::from(line.contains(words));
                failed += u64::from(line.trim_start().starts_with("--- FAIL: "));
                let red = line.strip_prefix("FAIL\t");
                if let Some(red) = red {
                    packages += 1;
                    if said < failed.max(1) && !is_unbuilt(red, part, words) {
                        return false;
                    }
                }
                if red.is_some() || line.starts_with("ok  \t") || line.starts_with("?   \t") {
                    (said, failed) = (0, 0);
                }
            }
        }
        packages == self.failed
    }
}

/// It wasn't built, and what Go says of that stands elsewhere, below its name: on another stream.
fn is_unbuilt(red: &str, output: &str, words: &str) -> bool {
    let Some((package, why)) = red.split_once(' ') else {
        return false;
    };
    let mut below = output
        .lines()
        .skip_while(|line| line.strip_prefix("# ") != Some(package))
        .skip(1)
        .take_while(|line| !line.starts_with("# ") && !line.starts_with("FAIL"));
    why.ends_with(" failed]") && below.any(|line| line.contains(words))
}
