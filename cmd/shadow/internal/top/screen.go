package top

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Sequences of ECMA-48 and xterm that every terminal in use knows.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // the other screen, without a cursor: the user's own stays as it was
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// screen is a terminal in raw mode.
type screen struct {
	in, out *os.File
	before  *term.State
	resized chan os.Signal
}

// openScreen takes over the terminal; nil without one on both sides.
func openScreen(in io.Reader, out io.Writer) (*screen, error) {
	i, isFile := in.(*os.File)
	o, areFiles := out.(*os.File)
	if !isFile || !areFiles || !term.IsTerminal(int(i.Fd())) || !term.IsTerminal(int(o.Fd())) {
		return nil, nil
	}
	before, err := term.MakeRaw(int(i.Fd()))
	if err != nil {
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	s := &screen{in: i, out: o, before: before, resized: make(chan os.Signal, 1)}
	signal.Notify(s.resized, unix.SIGWINCH)
	if _, err := io.WriteString(o, enterScreen); err != nil {
		s.close()
		return nil, fmt.Errorf("writing to the terminal: %w", err)
	}
	return s, nil
}

func (s *screen) close() {
	signal.Stop(s.resized)
	_, _ = io.WriteString(s.out, leaveScreen) // a terminal that is gone needs nothing
	_ = term.Restore(int(s.in.Fd()), s.before)
}

// Terminals that do not say how large they are get the size of a VT100.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width < 1 || height < 1 {
		return defaultWidth, defaultHeight
	}
	return width, height
}

// draw replaces what is shown. It writes over the old lines, which does not flicker.
func (s *screen) draw(lines []string) error {
	frame := home + strings.Join(lines, clearLine+"\r\n") + clearLine + clearBelow
	if _, err := io.WriteString(s.out, frame); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	return nil
}

// key is what the user pressed.
type key string

const (
	keyUp    key = "up"
	keyDown  key = "down"
	keyLeft  key = "left"
	keyRight key = "right"
	keyPgUp  key = "page up"
	keyPgDn  key = "page down"
	keyHome  key = "home"
	keyEnd   key = "end"
	keyEnter key = "enter"
	keyBack  key = "back"
	keyQuit  key = "quit"
)

// keys by what terminals send; anything else is its own character.
var keys = map[string]key{
	"\x1b[A": keyUp, "\x1bOA": keyUp, "k": keyUp,
	"\x1b[B": keyDown, "\x1bOB": keyDown, "j": keyDown,
	"\x1b[D": keyLeft, "\x1bOD": keyLeft, "h": keyLeft, "\x1b[Z": keyLeft,
	"\x1b[C": keyRight, "\x1bOC": keyRight, "l": keyRight, "\t": keyRight,
	"\x1b[5~": keyPgUp, "\x1b[6~": keyPgDn,
	"\x1b[H": keyHome, "\x1bOH": keyHome, "\x1b[1~": keyHome, "g": keyHome,
	"\x1b[F": keyEnd, "\x1bOF": keyEnd, "\x1b[4~": keyEnd, "G": keyEnd,
	"\r": keyEnter, "\n": keyEnter,
	"\x1b": keyBack, "\x7f": keyBack, "\b": keyBack,
	"q": keyQuit, "\x03": keyQuit, "\x04": keyQuit,
}

// readKeys sends what the user presses until ctx or the input ends.
func readKeys(ctx context.Context, in io.Reader, pressed chan<- key) {
	r := bufio.NewReader(in)
	for {
		k, err := readKey(r)
		if err != nil {
			k = keyQuit // the terminal is gone
		}
		select {
		case pressed <- k:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// longestKey bounds a sequence, of which unknown ones are skipped whole.
const longestKey = 16

// readKey reads one key. The bytes of a sequence arrive together, so an escape
// character with nothing after it is the Escape key.
func readKey(r *bufio.Reader) (key, error) {
	c, _, err := r.ReadRune()
	if err != nil {
		return "", err
	}
	sequence := string(c)
	if c == '\x1b' && r.Buffered() > 0 {
		for len(sequence) < longestKey && r.Buffered() > 0 {
			b, _ := r.ReadByte() // it is buffered
			sequence += string(rune(b))
			if len(sequence) > 2 && b >= '@' && b <= '~' || len(sequence) == 2 && b != '[' && b != 'O' {
				break
			}
		}
	}
	if k, known := keys[sequence]; known {
		return k, nil
	}
	return key(sequence), nil
}
