package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/page"
	"stackagent/shadow/show/report"
	"stackagent/shadow/store/objectstore"
)

// noFigure are endings that nobody gives a folder, of files that are not written.
var noFigure = map[string]bool{".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".eps": true, ".ps": true, ".json": true, ".csv": true, ".txt": true}

// reportName is the page's name where only a folder is given.
const reportName = "report.html"

type reportFlags struct {
	output  string
	figures []string
	formats []string
	filter  summary.Filter
	units   bool
	metric  string

	thresholds []string
}

func newReport(env console.Env) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report DIR...",
		Short: "Write a self-contained HTML report, or figures as files",
		Long: `Writes the report of a session. -o chooses what to write:
  FILE.html            the page (default: ` + reportName + ` in the session's folder);
                       with two sessions, the second one beside the first
  FILE.svg|png|pdf     the one figure named by --figures
  OUTDIR               the page and all figures as files; with several sessions,
                       a folder for each`,
		Example: `  shadow report /tmp/s -o report.html
  shadow report /tmp/s --figures cdf -o cdf.pdf
  shadow report /tmp/s --metric alloc -o alloc.html
  shadow report /tmp/before /tmp/after -o compared.html
  shadow report /tmp/a /tmp/b -o figures --figures cdf,box --figure-format pdf`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return console.Usagef("missing session folder")
			}
			return f.check(args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.write(env, args) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.output, "output", "o", "", "FILE.html, FILE.svg|png|pdf or OUTDIR")
	flags.StringSliceVar(&f.figures, "figures", nil, "some of "+strings.Join(report.FigureNames, ","))
	flags.StringSliceVar(&f.formats, "figure-format", []string{"svg"}, "some of "+strings.Join(figure.Formats, ","))
	choice.AddFilter(cmd, &f.filter)
	choice.AddUnits(cmd, &f.units)
	flags.StringVar(&f.metric, "metric", "", metricUsage)
	choice.AddThreshold(cmd, &f.thresholds)
	return cmd
}

// reportIn writes the report of the session in dir there, as the verb does without flags, and gives its path.
func reportIn(env console.Env, dir string) (string, error) {
	f := reportFlags{formats: []string{"svg"}}
	return filepath.Join(dir, reportName), f.write(env, []string{dir})
}

// extension is the format that the name of the output asks for, "" for a folder.
func (f *reportFlags) extension() string {
	ext := strings.TrimPrefix(strings.ToLower(filepath.Ext(f.output)), ".")
	if ext == "html" || ext == "htm" || slices.Contains(figure.Formats, ext) {
		return ext
	}
	return ""
}

func (f *reportFlags) check(dirs []string) error {
	for _, name := range f.figures {
		if !slices.Contains(report.FigureNames, name) {
			return console.Usagef("--figures %s: use one or more of %s", name, strings.Join(report.FigureNames, ","))
		}
	}
	for _, format := range f.formats {
		if !slices.Contains(figure.Formats, format) {
			return console.Usagef("--figure-format %s: use one or more of %s", format, strings.Join(figure.Formats, ","))
		}
	}
	if err := f.filter.Check(); err != nil {
		return &console.UsageError{Err: err}
	}
	if _, err := choice.Thresholds(f.thresholds); err != nil {
		return err
	}
	ext := f.extension()
	switch {
	case noFigure[strings.ToLower(filepath.Ext(f.output))]:
		return console.Usagef("-o %s: use FILE.html, FILE.svg, .png or .pdf, or the name of a folder", f.output)
	case f.page() && len(dirs) == 2: // a comparison
	case len(dirs) > 1 && (ext != "" || f.output == ""):
		return console.Usagef("%d sessions need a folder: name one with -o", len(dirs))
	case slices.Contains(figure.Formats, ext) && len(f.figures) != 1:
		return console.Usagef("-o %s takes one figure: name it with --figures", f.output)
	}
	return nil
}

// page reports whether the output is a page alone.
func (f *reportFlags) page() bool {
	ext := f.extension()
	return ext == "html" || ext == "htm"
}

func (f *reportFlags) write(env console.Env, dirs []string) error {
	if f.extension() != "" {
		if err := files.Check(f.output); err != nil {
			return err
		}
	}
	var pages []*page.Data
	for _, dir := range dirs {
		s, err := env.Open(dir)
		if err != nil {
			return err
		}
		before := len(s.Warnings)
		made, data, err := f.one(env, s, len(dirs) > 1)
		if err != nil {
			return err
		}
		env.NoteFound(s, before)
		if f.page() {
			pages = append(pages, data)
		}
		if err := listed(env, made); err != nil {
			return err
		}
	}
	if len(pages) == 0 {
		return nil
	}
	if len(pages) == 2 {
		if err := f.compare(env, pages[0], dirs); err != nil {
			return err
		}
	}
	if err := writePage(f.output, pages...); err != nil {
		return err
	}
	return listed(env, []string{f.output})
}

// listed lists files.
func listed(env console.Env, made []string) error {
	for _, file := range made {
		if _, err := fmt.Fprintln(env.Out, file); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// one writes what is wanted of one session and lists the files. Of a page alone it makes the data only.
func (f *reportFlags) one(env console.Env, s *session.Session, several bool) ([]string, *page.Data, error) {
	sum, data, err := f.read(env, s)
	if err != nil {
		return nil, nil, err
	}
	choice.NoteNone(env, s, f.filter, len(sum.Rows))
	dir, figures := f.output, true
	switch {
	case f.page():
		return nil, data, nil
	case f.extension() != "":
		return []string{f.output}, nil, f.writeFigure(f.output, f.extension(), sum)
	case f.output == "" && objectstore.Remote(s.Dir):
		return nil, nil, console.Usagef("%s is in an object store: give -o FILE.html or -o FOLDER", s.Dir)
	case f.output == "":
		dir, figures = s.Dir, len(f.figures) > 0
	case several:
		dir = filepath.Join(dir, sum.Session)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("making the folder of the report: %w", err)
	}
	made := []string{filepath.Join(dir, reportName)}
	if err := writePage(made[0], data); err != nil || !figures {
		return made, nil, err
	}
	more, err := report.WriteFigures(dir, sum, f.figures, f.formats)
	return append(made, more...), nil, err
}

// read condenses a session and makes the data of its page, if there is to be one. It shows how far it is on a terminal.
func (f *reportFlags) read(env console.Env, s *session.Session) (*summary.Summary, *page.Data, error) {
	t, err := choice.Thresholds(f.thresholds)
	if err != nil {
		return nil, nil, err
	}
	ext := f.extension()
	o := summary.Options{Filter: f.filter, Report: true, Units: f.units, Advice: true, Thresholds: t}
	o.Shapes = slices.Contains(figure.Formats, ext) || len(f.figures) > 0 || ext == "" && f.output != ""
	if bar := env.Bar(); bar != nil {
		o.Progress = bar.Show
		defer bar.Clear()
	}
	sum, err := choice.Condense(env, s, o)
	if err != nil {
		return nil, nil, err
	}
	if f.metric != "" {
		if err := show(sum, f.metric, false); err != nil {
			return nil, nil, err
		}
	}
	if slices.Contains(figure.Formats, ext) {
		return sum, nil, nil
	}
	data, err := page.Build(s, sum, page.Options{Progress: o.Progress})
	return sum, data, err
}

func writePage(path string, sessions ...*page.Data) error {
	return files.Write(nil, path, func(w io.Writer) error { return page.Write(w, sessions...) })
}

func (f *reportFlags) writeFigure(path, format string, s *summary.Summary) error {
	figures, err := report.Figures(s, f.figures)
	if err != nil {
		return err
	}
	return files.Write(nil, path, func(w io.Writer) error { return figures[0].Write(w, format) })
}
