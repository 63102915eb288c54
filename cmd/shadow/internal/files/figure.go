package files

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/show/figure"
)

// CheckFigure refuses a file name without the ending of a figure's format.
func CheckFigure(output string) error {
	if output != "" && !slices.Contains(figure.Formats, figureFormat(output)) {
		return console.Usagef("-o %s: name a file that ends in .%s", output, strings.Join(figure.Formats, ", ."))
	}
	return nil
}

// figureFormat is the ending of the file name in lower case.
func figureFormat(output string) string {
	i := strings.LastIndexByte(output, '.')
	return strings.ToLower(output[i+1:])
}

// WriteFigure writes a figure in the format of the file's ending, and prints the file's name.
func WriteFigure(env console.Env, path string, fig *figure.Figure) error {
	if err := Write(nil, path, func(w io.Writer) error { return fig.Write(w, figureFormat(path)) }); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(env.Out, path); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
