//! Where on the screen things stand: beside one another on a wide one, below one another on others; what a
//! small one has no room for is left out.

use ratatui::layout::Rect;

/// Columns from which the preview stands beside the list. Narrower halves show half titles.
const BESIDE_FROM: u16 = 100;
/// Lines below which there is no preview.
const PREVIEW_FROM: u16 = 12;
/// Lines below which there is neither a footer nor a line of filters.
const FRAME_FROM: u16 = 5;

/// The parts of the screen; what has no room is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    /// What is typed.
    pub query: Rect,
    /// What is chosen, and how many there are.
    pub filters: Rect,
    /// The sessions.
    pub list: Rect,
    /// Between the list and the preview.
    pub rule: Rect,
    /// One session.
    pub preview: Rect,
    /// The keys.
    pub footer: Rect,
    /// Lines of a session in the list.
    pub lines_each: u16,
}

impl Areas {
    /// Of a screen of this size.
    pub fn of(width: u16, height: u16) -> Areas {
        let at = |x: u16, y: u16, width: u16, height: u16| Rect {
            x,
            y,
            width,
            height,
        };
        let has_frame = height >= FRAME_FROM;
        let (top, bottom) = if has_frame { (2, 1) } else { (1, 0) };
        let middle = height.saturating_sub(top + bottom);
        let mut areas = Areas {
            query: at(0, 0, width, height.min(1)),
            list: at(0, top.min(height), width, middle),
            lines_each: 1,
            ..Areas::default()
        };
        if has_frame {
            areas.filters = at(0, 1, width, 1);
            areas.footer = at(0, height - 1, width, 1);
        }
        if height < PREVIEW_FROM {
            return areas;
        }
        if width >= BESIDE_FROM {
            let left = width * 9 / 20;
            areas.list.width = left;
            areas.rule = at(left, top, 1, middle);
            areas.preview = at(left + 2, top, width - left - 2, middle);
            areas.lines_each = 2;
        } else {
            let list = middle * 9 / 20;
            areas.list.height = list;
            areas.rule = at(0, top + list, width, 1);
            areas.preview = at(0, top + list + 1, width, middle - list - 1);
        }
        areas
    }

    /// Sessions that the list has room for.
    pub fn entries(&self) -> usize {
        usize::from(self.list.height / self.lines_each.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_lie_inside_of_any_screen() {
        for width in 0..130 {
            for height in 0..50 {
                let all = Areas::of(width, height);
                let screen = Rect::new(0, 0, width, height);
                for area in [
                    all.query,
                    all.filters,
                    all.list,
                    all.rule,
                    all.preview,
                    all.footer,
                ] {
                    assert_eq!(
                        area.intersection(screen).area(),
                        area.area(),
                        "{width}x{height}: {area:?}"
                    );
                }
                assert!(all.list.height > 0 || height < 2, "{width}x{height}");
            }
        }
    }
}
