package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stackagent/scripts/bench/measure"
)

// judge prints the comparison and returns errWorse if something became worse.
func (r *runner) judge(ctx context.Context) error {
	var files []string
	for _, t := range r.trees {
		file := filepath.Join(r.scratch, t.name+".txt")
		if err := os.WriteFile(file, t.results.Bytes(), 0o644); err != nil {
			return fmt.Errorf("writing the results: %w", err)
		}
		files = append(files, t.name+"="+file)
	}
	run := func(format string) (string, error) {
		out, err := measure.Run(ctx, measure.Command{Args: append([]string{"go", "run", benchstat, "-format", format}, files...)})
		return out.Stdout, err
	}
	text, err := run("text")
	if err != nil {
		return err
	}
	fmt.Print(text)
	table, err := run("csv")
	if err != nil {
		return err
	}
	changes, err := readChanges(table)
	if err != nil {
		return err
	}
	if r.rounds < leastRounds {
		fmt.Printf("%d rounds are too few to distinguish a difference from chance; use -rounds %d or more.\n", r.rounds, leastRounds)
	}
	return verdict(os.Stdout, changes)
}

// leastRounds is the least number of runs that benchstat gives an interval for.
const leastRounds = 6

// change is a significant difference between the two states.
type change struct {
	name, unit string
	relative   float64 // +0.25: a quarter more
}

// worse: more is better for figures per second, less for all others.
func (c change) worse() bool { return (c.relative > 0) != strings.HasSuffix(c.unit, "/s") }

// readChanges reads benchstat's CSV: sections of a line with the unit and a line for
// each benchmark. If a difference is not significant, benchstat writes "~".
func readChanges(text string) ([]change, error) {
	var changes []change
	var pkg, unit string
	compared := 0
	rows := csv.NewReader(strings.NewReader(text))
	rows.FieldsPerRecord = -1
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the table of benchstat: %w", err)
		}
		switch {
		case len(row) == 1:
			if p, found := strings.CutPrefix(row[0], "pkg: "); found {
				pkg = p + " "
			}
		case len(row) == 7 && row[5] == "vs base":
			unit = row[1]
		case len(row) == 7 && row[0] != "" && row[0] != "geomean" && row[5] != "":
			compared++
			percent, found := strings.CutSuffix(row[5], "%")
			if !found {
				continue // "~" or "?"
			}
			v, err := strconv.ParseFloat(percent, 64)
			if err != nil {
				return nil, fmt.Errorf("reading the table of benchstat: the change %q of %s: %w", row[5], row[0], err)
			}
			changes = append(changes, change{pkg + row[0], unit, v / 100})
		}
	}
	if compared == 0 {
		return nil, errors.New("benchstat compared nothing: no benchmark is in both states, or too few rounds")
	}
	return changes, nil
}

// verdict lists the changes above the tolerance; errWorse if one is for the worse.
func verdict(w io.Writer, changes []change) (err error) {
	found := 0
	for _, c := range changes {
		if c.relative >= -tolerated && c.relative <= tolerated {
			continue
		}
		found++
		word := "better"
		if c.worse() {
			word, err = "WORSE", errWorse
		}
		fmt.Fprintf(w, "%-6s %s: %+.1f %% %s\n", word, c.name, 100*c.relative, c.unit)
	}
	if found == 0 {
		fmt.Fprintf(w, "Nothing changed significantly by more than %.0f %%.\n", 100*tolerated)
	}
	return err
}
