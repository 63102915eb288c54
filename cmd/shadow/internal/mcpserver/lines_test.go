package mcpserver

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// taken reads what is a message of a text, and the codes of what is none.
func taken(t *testing.T, in string) (messages []string, codes []int) {
	t.Helper()
	var out bytes.Buffer
	transport := Lines(iotest.HalfReader(strings.NewReader(in)), &out)
	all, err := io.ReadAll(transport.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		messages = append(messages, strings.TrimSuffix(line, "\n"))
	}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			JSONRPC string
			ID      *int
			Error   struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.JSONRPC != "2.0" || answer.ID != nil || answer.Error.Message == "" || !strings.Contains(line, `"id":null`) {
			t.Errorf("answer %q: %v", line, err)
		}
		codes = append(codes, answer.Error.Code)
	}
	return messages, codes
}

// TestLines: what is no message is answered as JSON-RPC says, and nothing of it is passed on.
func TestLines(t *testing.T) {
	const a, b = `{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for _, c := range []struct {
		in, want string
		codes    []int
	}{
		{a + "\n" + b + "\r\n", a + "|" + b, nil},
		{"\n \n" + a, a, nil},
		{"nonsense\n" + a + "\n", a, []int{-32700}},
		{"{\n" + a + " x\n\xff\x00\x1b[2J\n" + a + "\n", a, []int{-32700, -32700, -32700}},
		{"[]\n" + a + "\n", a, []int{-32600}},
		{"1\nnull\n\"x\"\n{}\n" + a + "\n", a, []int{-32600, -32600, -32600, -32600}},
		{`{"jsonrpc":"1.0","id":1,"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","id":{},"method":"ping"}` + "\n" + `{"jsonrpc":"2.0","method":5}` + "\n" + a, a, []int{-32600, -32600, -32600}},
		{"[" + a + ",7," + b + "]\n", a + "|" + b, []int{-32600}},
		{`{"jsonrpc":"2.0","id":2,"method":"` + strings.Repeat("x", mostLine) + "\"}\n" + a + "\n", a, []int{-32600}},
		{strings.Repeat("[", 100_000) + "\n" + a + "\n", a, []int{-32700}},
		{"", "", nil},
	} {
		got, codes := taken(t, c.in)
		if strings.Join(got, "|") != c.want || len(codes) != len(c.codes) {
			t.Errorf("%.60q: %.200q, %v; want %q, %v", c.in, got, codes, c.want, c.codes)
			continue
		}
		for i := range codes {
			if codes[i] != c.codes[i] {
				t.Errorf("%.60q: %v; want %v", c.in, codes, c.codes)
			}
		}
	}
}

func FuzzTake(f *testing.F) {
	f.Add("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n[]\nx")
	f.Add("[{\"jsonrpc\":\"2.0\",\"method\":\"x\"},1]\n\xff")
	f.Fuzz(func(t *testing.T, in string) {
		messages, codes := taken(t, in)
		for _, m := range messages {
			if _, err := jsonrpc.DecodeMessage([]byte(m)); err != nil {
				t.Errorf("passes on %q: %v", m, err)
			}
		}
		for _, code := range codes {
			if code != jsonrpc.CodeParseError && code != jsonrpc.CodeInvalidRequest {
				t.Errorf("code %d", code)
			}
		}
	})
}
