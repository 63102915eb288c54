//go:build !race

package ingest

import (
	"io"

	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/show/page"
)

// report condenses a session and makes its report.
func report(s *session.Session) error {
	sum, err := summary.Build(s, summary.Options{Shapes: true, PerThread: true})
	if err != nil {
		return err
	}
	data, err := page.Build(s, sum, page.Options{})
	if err != nil {
		return err
	}
	return page.Write(io.Discard, data)
}
