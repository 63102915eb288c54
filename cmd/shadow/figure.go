package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/shadow/figure"
)

// figureFormats are the formats of figures.
var figureFormats = []string{"svg", "png", "pdf"}

// checkFigure refuses a file name without the ending of a figure's format.
func checkFigure(output string) error {
	if output != "" && !slices.Contains(figureFormats, figureFormat(output)) {
		return console.Usagef("-o %s: name a file that ends in .%s", output, strings.Join(figureFormats, ", ."))
	}
	return nil
}

// figureFormat is the ending of the file name in lower case.
func figureFormat(output string) string {
	i := strings.LastIndexByte(output, '.')
	return strings.ToLower(output[i+1:])
}

// writeFigure writes a figure in the format of the file's ending, and prints the file's name.
func writeFigure(env console.Env, path string, fig *figure.Figure) error {
	if err := files.Write(nil, path, func(w io.Writer) error { return fig.Write(w, figureFormat(path)) }); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(env.Out, path); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
