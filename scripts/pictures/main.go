// Command pictures takes screenshots of pages for the documentation.
//
//	pictures ADDRESS FILE.png WIDTHxHEIGHT [dark]
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"stackagent/internal/testbrowser"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	var width, height int
	if len(args) < 3 {
		return errors.New("usage: pictures ADDRESS FILE.png WIDTHxHEIGHT [dark]")
	}
	if _, err := fmt.Sscanf(args[2], "%dx%d", &width, &height); err != nil {
		return fmt.Errorf("size %q: use WIDTHxHEIGHT: %w", args[2], err)
	}
	b, err := testbrowser.Start(context.Background())
	if err != nil {
		return err
	}
	defer b.Close()
	t, err := b.Tab(width, height)
	if err != nil {
		return err
	}
	if len(args) > 3 && args[3] == "dark" {
		if err := t.Media("", "prefers-color-scheme=dark"); err != nil {
			return err
		}
	}
	if err := t.Go(args[0]); err != nil {
		return err
	}
	if err := t.Until(`document.documentElement.dataset.state === "ready"`); err != nil {
		return err
	}
	picture, err := t.Screenshot()
	if err != nil {
		return err
	}
	if bad := t.Complaints(); len(bad) > 0 {
		return fmt.Errorf("%s: the browser complains: %v", args[0], bad)
	}
	return os.WriteFile(args[1], picture, 0o644) //nolint:gosec // a file of the documentation
}
