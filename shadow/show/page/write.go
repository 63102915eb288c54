package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"reflect"
	"strings"

	"stackagent/internal/text"
)

// WriteJSON writes the data as JSON that may stand in a script element: the characters <, > and & are escaped.
func WriteJSON(w io.Writer, d *Data) error {
	tidy(reflect.ValueOf(d).Elem())
	b, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("writing the data of the page: %w", err)
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("writing the data of the page: %w", err)
	}
	return nil
}

// tidy makes every text printable, since any may hold a name of the observed program, and empty lists of lists that are nil: the page
// reads no null where a list is.
func tidy(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text.Clean(v.String(), '?'))
	case reflect.Struct:
		for i := range v.NumField() {
			tidy(v.Field(i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			tidy(v.Elem())
		}
	case reflect.Map:
		to := reflect.MakeMap(v.Type())
		for key, value := range v.Seq2() {
			to.SetMapIndex(cleaned(key), cleaned(value))
		}
		v.Set(to)
	case reflect.Slice:
		if v.IsNil() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Slice, reflect.String:
			for i := range v.Len() {
				tidy(v.Index(i))
			}
		}
	}
}

func cleaned(s reflect.Value) reflect.Value { return reflect.ValueOf(text.Clean(s.String(), '?')) }

// Write writes the page of one session, or the comparison of two: one file that refers to no other.
func Write(w io.Writer, sessions ...*Data) error {
	if len(sessions) == 0 || len(sessions) > 2 {
		return fmt.Errorf("a page shows one session or two, not %d", len(sessions))
	}
	// Write the whole page or nothing.
	var b bytes.Buffer
	for _, d := range sessions {
		tidy(reflect.ValueOf(d).Elem())
	}
	title := titleOf(sessions)
	fmt.Fprintf(&b, head, html.EscapeString(Policy()), html.EscapeString(title))
	fmt.Fprintf(&b, "<style>%s</style>\n</head>\n<body>\n<main id=\"page\">%s</main>\n", Style, fallback(sessions))
	for i, d := range sessions {
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"%s\">", dataIDs[i])
		if err := WriteJSON(&b, d); err != nil {
			return err
		}
		b.WriteString("</script>\n")
	}
	fmt.Fprintf(&b, "<script>%s</script>\n</body>\n</html>\n", Script)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// dataIDs are the elements with the data of the sessions.
var dataIDs = []string{"data", "data-b"}

const head = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>%s</title>
`

func titleOf(sessions []*Data) string {
	var names []string
	for _, d := range sessions {
		name := d.Session.Program
		if name == "" || len(sessions) > 1 {
			name = d.Session.Name
		}
		names = append(names, name)
	}
	return "Tasks of " + strings.Join(names, " and ")
}

// fallback is what a browser without scripts shows.
func fallback(sessions []*Data) string {
	var b strings.Builder
	b.WriteString("<noscript>")
	for _, d := range sessions {
		fmt.Fprintf(&b, "<h1>%s</h1><p>%s %s</p>", html.EscapeString(d.Session.Name), html.EscapeString(d.Verdict.Sentence), html.EscapeString(d.Verdict.Note))
		for _, c := range append(d.Verdict.Cards, d.Verdict.More...) {
			fmt.Fprintf(&b, "<h2>%s</h2><p>%s</p><p>%s</p><p>%s</p>", html.EscapeString(c.Title), html.EscapeString(c.Evidence), html.EscapeString(c.Remedy), html.EscapeString(c.Gain))
		}
	}
	b.WriteString("<p>Tables and figures need a browser that runs scripts.</p></noscript>")
	return b.String()
}

// Policy is the content security policy of a page: it loads nothing, sends nothing, and has only its own script and style.
func Policy() string {
	return "default-src 'none'; script-src " + hashOf(Script) + "; style-src " + hashOf(Style) + "; base-uri 'none'; form-action 'none'"
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
