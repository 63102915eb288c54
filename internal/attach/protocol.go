package attach

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of the protocol's first version (HotSpot's attachListener.hpp), and of
// what we read.
const (
	maxArgument = 1024    // bytes of an argument
	maxReply    = 1 << 20 // bytes of a reply that are looked at
)

// Versions of the protocol. The second (JDK 24 and later) has arguments of any
// length.
const (
	version1 = 1
	version2 = 2
)

// errNoAnswer: the JVM has closed the connection, as it does when it ends.
var errNoAnswer = errors.New("no answer")

// request makes the bytes of a request.
func request(version int, command string, args ...string) ([]byte, error) {
	words := append([]string{command}, args...)
	for _, w := range words {
		if strings.ContainsRune(w, 0) {
			return nil, fmt.Errorf("attach request %s: an argument holds a zero byte", command)
		}
		if version == version1 && len(w) > maxArgument {
			return nil, fmt.Errorf("attach request %s: an argument of %d bytes; this JVM takes %d", command, len(w), maxArgument)
		}
	}
	var b strings.Builder
	put := func(s string) { b.WriteString(s); b.WriteByte(0) }
	put(strconv.Itoa(version))
	if version == version1 {
		for len(words) < 4 {
			words = append(words, "")
		}
	} else {
		size := 0
		for _, w := range words {
			size += len(w) + 1
		}
		put(strconv.Itoa(size))
	}
	for _, w := range words {
		put(w)
	}
	return []byte(b.String()), nil
}

// A RefusedError is a JVM's answer to a request that it did not carry out.
type RefusedError struct {
	Command string
	Code    int    // HotSpot's
	Message string // the JVM's words
}

func (e *RefusedError) Error() string {
	text := fmt.Sprintf("the JVM refused %q (code %d)", e.Command, e.Code)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// reply reads an answer: a line with the code, then text.
func reply(r io.Reader, command string) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxReply))
	if err != nil {
		return "", fmt.Errorf("reading the JVM's answer to %q: %w", command, err)
	}
	if len(b) == 0 {
		return "", errNoAnswer
	}
	line, text, found := strings.Cut(string(b), "\n")
	code, err := strconv.Atoi(strings.TrimSpace(line))
	if !found || err != nil {
		return "", fmt.Errorf("the JVM's answer to %q is not understood: %.80q", command, b)
	}
	text = strings.TrimSpace(text)
	if code != 0 {
		return "", &RefusedError{command, code, text}
	}
	return text, nil
}

// A CodeError is what an agent's Agent_OnAttach returned, not 0.
type CodeError struct{ Code int }

func (e *CodeError) Error() string { return fmt.Sprintf("the agent returned %d", e.Code) }

// loadResult reads the text of the answer to "load".
func loadResult(text string) error {
	const mark = "return code: "
	code, ok := strings.CutPrefix(text, mark)
	if !ok {
		return &RefusedError{"load", 0, text}
	}
	n, err := strconv.Atoi(strings.TrimSpace(code))
	if err != nil {
		return fmt.Errorf("the JVM's answer to \"load\" is not understood: %.80q", text)
	}
	if n != 0 {
		return &CodeError{n}
	}
	return nil
}

// newestVersion reads the answer to "getversion": "2 option,option".
func newestVersion(text string, err error) (int, error) {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return version1, nil // a JVM that does not know the question
	}
	if err != nil {
		return 0, err
	}
	word, _, _ := strings.Cut(text, " ")
	if word == strconv.Itoa(version2) {
		return version2, nil
	}
	return version1, nil
}
