package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/shadow/exchange/export/otlp"
)

const (
	defaultSlowest = 10
	maxSlowest     = 10_000
)

// exportOTLP sends to the receiver at a URL, or writes a file.
func exportOTLP(x *exporting) error {
	version, _, _ := strings.Cut(x.cmd.Root().Version, " ")
	url := strings.HasPrefix(x.output, "http://") || strings.HasPrefix(x.output, "https://")
	if !url && x.receiver.Any() {
		return console.Usagef("--otlp-header and --otlp-insecure are for a receiver: -o URL")
	}
	var notes []string
	if !url {
		src, done, err := x.source(0)
		if err != nil {
			return err
		}
		err = x.file(func(w io.Writer) (err error) {
			notes, err = otlp.Export(otlp.File{W: w}, src, x.slowest, version)
			return err
		})
		done()
		x.say(notes)
		return err
	}
	client, err := x.receiver.Client(x.env, x.cmd, "output", x.output)
	if err != nil {
		return err
	}
	src, done, err := x.source(0)
	if err != nil {
		return err
	}
	to := otlp.NewReceiver(x.cmd.Context(), client, func(d time.Duration, err error) {
		x.env.Note("%s: %s; the next attempt follows in %s", client.Endpoint(), text.OneLine(err.Error()), d)
	})
	notes, err = otlp.Export(to, src, x.slowest, version)
	done()
	x.say(notes)
	if left := to.Left; left != (otlp.Amount{}) {
		not := "not delivered"
		if otlp.MayHave(err) {
			not = "not known to be delivered"
		}
		x.say([]string{fmt.Sprintf("%s: %s: %d of %s and %d of %s; export it again when the receiver works: ids and times are the same, so nothing counts twice", client.Endpoint(), not,
			left.Points, text.PluralExact(left.Points+to.Sent.Points, "data point", "data points"), left.Spans, text.PluralExact(left.Spans+to.Sent.Spans, "span", "spans"))})
	}
	switch r := to.Rejected; {
	case r.N > 0:
		return errors.Join(err, fmt.Errorf("%s: %s not taken: %s", client.Endpoint(), text.PluralExact(r.N, "data point or span was", "data points or spans were"), cmp.Or(r.Said, "it does not say why")))
	case r.Said != "":
		x.say([]string{fmt.Sprintf("%s: the receiver took all, and says: %s", client.Endpoint(), r.Said)})
	}
	return err
}
