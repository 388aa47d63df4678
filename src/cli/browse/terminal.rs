//! The terminal as `browse` has it: without echo and on a screen of its own, and always given back as it was,
//! whatever ends or stops the program.

use crate::host::interrupt::{SignalEffect, before_signals};
use crossterm::clipboard::CopyToClipboard;
use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use crossterm::style::ResetColor;
use crossterm::terminal::{
    self, BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use ratatui::{Terminal, TerminalOptions, Viewport};
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Whether the terminal is ours at the moment. Whoever writes to it or gives it back holds the lock, so that no
/// half of a frame follows after it was given back.
#[derive(Default)]
struct Tty {
    is_ours: Mutex<bool>,
    /// What stood on the screen is gone.
    is_blank: AtomicBool,
}

impl Tty {
    fn lock(&self) -> MutexGuard<'_, bool> {
        // whoever panicked with it must not keep the terminal
        self.is_ours.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> io::Result<()> {
        let mut is_ours = self.lock();
        if *is_ours {
            return Ok(());
        }
        enable_raw_mode()?;
        *is_ours = true;
        self.is_blank.store(true, Ordering::SeqCst);
        let mut bytes = Vec::new();
        queue!(bytes, EnterAlternateScreen, EnableBracketedPaste)?;
        send(&bytes)
    }

    /// Gives it back; whether it was ours. What can't be written can't be helped.
    fn give_back(&self) -> bool {
        let mut is_ours = self.lock();
        if !std::mem::take(&mut *is_ours) {
            return false;
        }
        let _ = disable_raw_mode();
        let mut bytes = Vec::new();
        let _ = queue!(
            bytes,
            EndSynchronizedUpdate,
            ResetColor,
            DisableBracketedPaste,
            cursor::Show,
            LeaveAlternateScreen
        );
        let _ = send(&bytes);
        true
    }
}

fn send(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// What is drawn, sent in one piece for each frame.
struct Frames {
    tty: Arc<Tty>,
    bytes: Vec<u8>,
}

impl Write for Frames {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let is_ours = self.tty.lock();
        let sent = match *is_ours {
            true => send(&self.bytes),
            false => Ok(()),
        };
        self.bytes.clear();
        sent
    }
}

/// A screen of this size of which nothing is drawn yet.
fn drawn_on(
    frames: Frames,
    (columns, lines): (u16, u16),
) -> io::Result<Terminal<CrosstermBackend<Frames>>> {
    let viewport = Viewport::Fixed(Rect::new(0, 0, columns, lines));
    Terminal::with_options(CrosstermBackend::new(frames), TerminalOptions { viewport })
}

/// The terminal, which is given back when this is dropped.
pub struct Screen {
    tty: Arc<Tty>,
    terminal: Terminal<CrosstermBackend<Frames>>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it can't be had as it has to be, or signals can't be caught.
    pub fn new() -> io::Result<Screen> {
        let tty = Arc::new(Tty::default());
        let frames = Frames {
            tty: Arc::clone(&tty),
            bytes: Vec::new(),
        };
        let terminal = drawn_on(frames, terminal::size()?)?;
        let screen = Screen {
            tty: Arc::clone(&tty),
            terminal,
        };
        let panicked = Arc::clone(&tty);
        let says = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            panicked.give_back();
            says(panic);
        }));
        let stopped = AtomicBool::new(false);
        before_signals(move |effect| match effect {
            SignalEffect::Ends => {
                tty.give_back();
                true
            }
            // where it isn't ours, a pager has it, whose Ctrl-C this is
            SignalEffect::Interrupts => tty.give_back(),
            SignalEffect::Stops => {
                stopped.store(tty.give_back(), Ordering::SeqCst);
                true
            }
            SignalEffect::GoesOn => {
                // a shell that stopped us without a warning had the terminal meanwhile
                if tty.give_back() || stopped.swap(false, Ordering::SeqCst) {
                    let _ = tty.take();
                }
                false
            }
        })?;
        screen.tty.take()?;
        Ok(screen)
    }

    /// Its columns and lines.
    ///
    /// # Errors
    /// When they can't be known.
    pub fn size(&self) -> io::Result<(u16, u16)> {
        terminal::size()
    }

    /// What stood on it is gone, since it was drawn last.
    pub fn is_blank(&self) -> bool {
        self.tty.is_blank.load(Ordering::SeqCst)
    }

    /// Draws.
    ///
    /// # Errors
    /// When nothing can be written to it any more.
    pub fn draw(&mut self, draws: impl FnOnce(&mut ratatui::Frame<'_>)) -> io::Result<()> {
        let (size, own) = (self.size()?, self.terminal.get_frame().area());
        let is_blank = self.tty.is_blank.swap(false, Ordering::SeqCst);
        if is_blank || size != (own.width, own.height) {
            // the library's own way asks the terminal where its cursor is, and waits for the answer
            let frames = Frames {
                tty: Arc::clone(&self.tty),
                bytes: Vec::new(),
            };
            self.terminal = drawn_on(frames, size)?;
            queue!(self.terminal.backend_mut(), Clear(ClearType::All))?;
        }
        queue!(self.terminal.backend_mut(), BeginSynchronizedUpdate)?;
        self.terminal.draw(draws)?;
        queue!(self.terminal.backend_mut(), EndSynchronizedUpdate)?;
        Write::flush(self.terminal.backend_mut())
    }

    /// Asks the terminal to put a text into the clipboard of whoever sits at it (OSC 52), over ssh too.
    /// Terminals that don't do that say nothing.
    ///
    /// # Errors
    /// When nothing can be written to it any more.
    pub fn copy(&mut self, text: &str) -> io::Result<()> {
        queue!(
            self.terminal.backend_mut(),
            CopyToClipboard::to_clipboard_from(text)
        )?;
        Write::flush(self.terminal.backend_mut())
    }

    /// Gives the terminal back, for another program or for good.
    pub fn give_back(&self) {
        self.tty.give_back();
    }

    /// Takes it again.
    ///
    /// # Errors
    /// As [`Screen::new`].
    pub fn take(&self) -> io::Result<()> {
        self.tty.take()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.tty.give_back();
    }
}
