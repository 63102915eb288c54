package tgp

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/session"
)

// Export writes the files of tgp to the folder dir.
func Export(env console.Env, s *session.Session, filter summary.Filter, metric, dir string) error {
	m, err := chooseMetric(s, metric)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the trace: %w", err)
	}
	rows := 0
	err = files.Write(nil, filepath.Join(dir, tgp.TasksFile), func(w io.Writer) error {
		out := tgp.NewTaskWriter(w)
		if err := eachTgpRow(s, filter, m, func(r *tgp.Row) error { rows++; return out.Write(r) }); err != nil {
			return err
		}
		return out.Close()
	})
	if err != nil {
		return err
	}
	samples, err := samplesOf(s)
	if err != nil {
		return err
	}
	pauses := pausesOf(s)
	if err := files.Write(nil, filepath.Join(dir, tgp.GCFile), func(w io.Writer) error { return tgp.WriteGC(w, pauses) }); err != nil {
		return err
	}
	if err := writeSamples(env, dir, samples); err != nil {
		return err
	}
	env.Note("%s in %s; the granularity is self %s; %s", text.PluralExact(rows, "row", "rows"), dir, m.name, text.PluralExact(int64(len(pauses)), "collection", "collections"))
	return nil
}

// eachTgpRow hands out the rows of the session that pass.
func eachTgpRow(s *session.Session, filter summary.Filter, m selfMetric, f func(*tgp.Row) error) error {
	err := s.Tasks(func(t *session.Task) error {
		if t.Class != nil && !filter.Match(t.Class.Name, t.Class.Kinds) {
			return nil
		}
		return f(tgp.FromTask(t, m.of(t)))
	})
	if err != nil {
		return fmt.Errorf("reading the tasks of %s: %w", s.Dir, err)
	}
	return nil
}

func pausesOf(s *session.Session) []tgp.Pause {
	out := make([]tgp.Pause, len(s.Pauses))
	for i, p := range s.Pauses {
		out[i] = tgp.Pause{Start: int64(p.StartNs), End: int64(p.EndNs)}
	}
	return out
}

// writeSamples writes cs.csv and cpu.csv where there is something to write.
func writeSamples(env console.Env, dir string, s tgp.Samples) error {
	for _, x := range []struct {
		name  string
		n     int
		write func(io.Writer) error
	}{
		{tgp.CSFile, len(s.Switches), func(w io.Writer) error { return tgp.WriteSwitches(w, s.Switches) }},
		{tgp.CPUFile, len(s.CPU), func(w io.Writer) error { return tgp.WriteCPU(w, s.CPU) }},
	} {
		if x.n == 0 {
			env.Note("%s not written: the session has no data for it", x.name)
			continue
		}
		if err := files.Write(nil, filepath.Join(dir, x.name), x.write); err != nil {
			return err
		}
	}
	return nil
}

// readSamples reads the samples that an imported session keeps beside its parts.
func readSamples(dir string) (s tgp.Samples, err error) {
	if s.Switches, err = readIfThere(filepath.Join(dir, tgp.CSFile), tgp.ReadSwitches); err != nil {
		return s, err
	}
	s.CPU, err = readIfThere(filepath.Join(dir, tgp.CPUFile), tgp.ReadCPU)
	return s, err
}

// readIfThere reads a file, or nothing where there is none.
func readIfThere[T any](path string, read func(io.Reader, string) ([]T, error)) ([]T, error) {
	f, err := files.OpenPlain(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the samples of the machine: %w", err)
	}
	defer f.Close()
	return read(f, path)
}
