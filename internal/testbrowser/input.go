package testbrowser

import (
	"fmt"
	"strconv"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// Box is where an element is, in pixels of the visible part of the page.
type Box struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Box scrolls the first element that a CSS selector finds into sight, unless its middle can be clicked, and measures it.
func (t *Tab) Box(selector string) (Box, error) {
	if err := t.Until("document.querySelector(" + strconv.Quote(selector) + ")"); err != nil {
		return Box{}, err
	}
	return Eval[Box](t, `(e => {
		const r = e.getBoundingClientRect();
		const hit = document.elementFromPoint(r.x + r.width / 2, r.y + r.height / 2);
		if (!hit || !e.contains(hit)) e.scrollIntoView({block: "center", behavior: "instant"});
		return e.getBoundingClientRect().toJSON();
	})(document.querySelector(`+strconv.Quote(selector)+`))`)
}

// clickAt is where an element can be clicked: in its middle, or if something else is there, near its left edge; null: nowhere.
const clickAt = `(e => {
		const r = e.getBoundingClientRect(), y = r.y + r.height / 2;
		const x = [r.x + r.width / 2, r.x + Math.min(8, r.width / 4)].find(x => e.contains(document.elementFromPoint(x, y)));
		return x === undefined ? null : {x, y};
	})`

// Click clicks an element as soon as it can be clicked: it may be about to be shown.
func (t *Tab) Click(selector string) error {
	if _, err := t.Box(selector); err != nil {
		return err
	}
	at := clickAt + "(document.querySelector(" + strconv.Quote(selector) + "))"
	if err := t.Until(at); err != nil {
		return fmt.Errorf("%s: nobody can click it, as something lies over it: %w", selector, err)
	}
	where, err := Eval[Box](t, at)
	if err != nil {
		return err
	}
	return t.do(chromedp.MouseClickXY(where.X, where.Y))
}

// Hover moves the mouse to a place in an element, in shares of its size.
func (t *Tab) Hover(selector string, x, y float64) error {
	b, err := t.Box(selector)
	if err != nil {
		return err
	}
	return t.do(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, b.X+x*b.Width, b.Y+y*b.Height))
}

// Drag presses the mouse at one share of an element's width, moves it in steps to another and lets it go.
func (t *Tab) Drag(selector string, from, to float64, steps int) error {
	b, err := t.Box(selector)
	if err != nil {
		return err
	}
	y := b.Y + b.Height/2
	at := func(share float64) float64 { return b.X + share*b.Width }
	moves := []chromedp.Action[chromedp.Void]{
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at(from), y, chromedp.ButtonNone),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, at(from), y, chromedp.ButtonLeft, chromedp.ClickCount(1)),
	}
	for i := range steps {
		share := from + (to-from)*float64(i+1)/float64(steps)
		moves = append(moves, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at(share), y, chromedp.ButtonLeft))
	}
	return t.do(append(moves, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, at(to), y, chromedp.ButtonLeft, chromedp.ClickCount(1)))...)
}

// Type types text, or keys of package kb, into what has the focus.
func (t *Tab) Type(keys string) error { return t.do(chromedp.KeyEvent(keys)) }
