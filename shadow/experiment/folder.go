package experiment

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/internal/bounded"
	"stackagent/internal/listing"
)

// The files of the folder.
const (
	journalName = "results.jsonl" // grows by a line a run; the other two are made from it
	// ResultsName and TableName hold the results, as JSON and as Parquet.
	ResultsName = "results.json"
	TableName   = "results.parquet"
	lockName    = "lock"
	// HeapFolder is where the smallest heap was looked for, an experiment of its own.
	HeapFolder = "smallest-heap"
)

// Limits for files that somebody else may have written.
const (
	longestPlan   = 4 << 20
	longestLine   = 1 << 20
	mostResults   = 1 << 20
	longestTotals = 1 << 30 // of the journal, bytes
)

// lock keeps a second runner out of the folder until the file is closed, or this process ends.
func lock(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the folder of the experiment: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: another shadow is running this experiment; wait for its end, or choose another folder with -o", dir)
		}
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return f, nil
}

// CheckFolder refuses a folder that cannot become an experiment, before anything is written to it.
func CheckFolder(dir string) error {
	plan, err := readPlan(dir)
	if err != nil || plan != nil {
		return err
	}
	return onlyOurs(dir)
}

// onlyOurs refuses a folder without a plan that holds anything else.
func onlyOurs(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the folder of the experiment: %w", err)
	}
	ours := []string{lockName, HeapFolder}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !slices.Contains(ours, e.Name()) }) {
		return fmt.Errorf("%s exists and is not empty; choose another with -o, or remove it", dir)
	}
	return nil
}

// readPlan reads the plan of a folder; nil without an error if there is none.
func readPlan(dir string) (*Plan, error) {
	path := filepath.Join(dir, PlanName)
	b, err := bounded.ReadFile(path, longestPlan+1)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if errors.Is(err, unix.ENOTDIR) {
		return nil, fmt.Errorf("%s is not a folder; choose another with -o", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the plan: %w", err)
	}
	return parsePlan(path, b)
}

func parsePlan(path string, b []byte) (*Plan, error) {
	if len(b) > longestPlan {
		return nil, fmt.Errorf("%s is larger than any plan", path)
	}
	var p Plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s is no plan of an experiment: %w", path, err)
	}
	if p.Version != planVersion {
		return nil, fmt.Errorf("%s is of version %d, this shadow reads version %d: use the shadow that wrote it", path, p.Version, planVersion)
	}
	return &p, nil
}

func writePlan(dir string, p *Plan) error { return hpc.WriteJSON(filepath.Join(dir, PlanName), p) }

// journal is the file to which results are appended.
type journal struct{ f *os.File }

// openJournal reads the results so far. A last line without an end was cut short with the run's record, so
// that it is taken away; the run is made again.
func openJournal(dir string) (*journal, []*Result, error) {
	path := filepath.Join(dir, journalName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the results: %w", err)
	}
	results, whole, err := readJournal(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return &journal{f}, results, nil
}

// readJournal reads results, and says how many bytes of r are whole lines.
func readJournal(r io.Reader) (results []*Result, whole int64, err error) {
	lines := bufio.NewReaderSize(io.LimitReader(r, longestTotals), longestLine)
	for n := 1; ; n++ {
		text, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return results, whole, nil
		case err != nil:
			return nil, 0, fmt.Errorf("line %d: %w", n, err)
		case len(results) == mostResults:
			return nil, 0, fmt.Errorf("more than %d results", mostResults)
		}
		var result Result
		if err := json.Unmarshal(text, &result); err != nil {
			return nil, 0, fmt.Errorf("line %d is no result (%w); remove it, and its run is made again", n, err)
		}
		if !filepath.IsLocal(result.Folder) {
			return nil, 0, fmt.Errorf("line %d names a folder outside the experiment; remove it, and its run is made again", n)
		}
		results, whole = append(results, &result), whole+int64(len(text))
	}
}

// add appends a result. It is on the disk when add returns.
func (j *journal) add(r *Result) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encoding a result: %w", err)
	}
	_, err = j.f.Write(append(text, '\n'))
	if err == nil {
		err = j.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("recording a result: %w; what is recorded is kept: make space, and give the same command again", err)
	}
	return nil
}

func (j *journal) close() error { return j.f.Close() }

// factors are those of any run, in the order of their first appearance.
func factors(results []*Result) []string {
	var out []string
	for _, r := range results {
		for _, l := range r.Point {
			if !slices.Contains(out, l.Factor) {
				out = append(out, l.Factor)
			}
		}
	}
	return out
}

// write makes the files for people and their tools.
func (x *Experiment) write() error {
	results := x.results
	if results == nil {
		results = []*Result{}
	}
	if err := hpc.WriteJSON(filepath.Join(x.dir, ResultsName), results); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := listing.All(listing.Parquet(&b, Columns(factors(results)...)), results); err != nil {
		return fmt.Errorf("encoding %s: %w", TableName, err)
	}
	path := filepath.Join(x.dir, TableName)
	if err := os.WriteFile(path+".tmp", b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing %s: %w", TableName, err)
	}
	return os.Rename(path+".tmp", path)
}
