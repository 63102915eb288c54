// Package testobjects is an S3 server in the test's process, whose requests can be counted and made to go wrong.
package testobjects

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// Bucket is the one that a server has.
const Bucket = "fleet"

// Server is an S3 server behind a proxy.
type Server struct {
	URL string
	// requests counts all that came.
	requests atomic.Int64
	bad      atomic.Pointer[Plan]
	next     http.Handler
	backend  *s3mem.Backend
}

// environment is what the clients of a server need in theirs: credentials and nothing else.
var environment = map[string]string{
	"AWS_PROFILE": "", "AWS_REGION": "", "AWS_DEFAULT_REGION": "", "AWS_ENDPOINT_URL": "", "AWS_ENDPOINT_URL_S3": "", "AWS_SESSION_TOKEN": "",
	"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "not-a-secret", "AWS_CONFIG_FILE": "/nonexistent",
}

// SetEnvironment sets it for all tests of a package, which then call Serve and can run beside each other.
func SetEnvironment() {
	for name, value := range environment {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// Start runs a server with an empty bucket, and sets the environment for the test, which therefore cannot run beside others.
func Start(t testing.TB) *Server {
	t.Helper()
	for name, value := range environment {
		t.Setenv(name, value)
	}
	return Serve(t)
}

// Serve runs a server with an empty bucket.
func Serve(t testing.TB) *Server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket(Bucket); err != nil {
		t.Fatal(err)
	}
	s := &Server{backend: backend, next: decodeParts(gofakes3.New(backend).Server())}
	listen := httptest.NewServer(s)
	t.Cleanup(listen.Close)
	s.URL = listen.URL
	return s
}

// Address is that of a prefix in the bucket, with more options: "&attempts=2".
func (s *Server) Address(prefix, options string) string {
	return "s3://" + Bucket + "/" + prefix + "?endpoint=" + s.URL + "&region=eu-central-1&path-style=true" + options
}

// Put makes an object of any name, as somebody else might.
func (s *Server) Put(t testing.TB, name, content string) {
	t.Helper()
	if _, err := s.backend.PutObject(Bucket, name, map[string]string{}, strings.NewReader(content), int64(len(content)), nil); err != nil {
		t.Fatal(err)
	}
}

// Requests is how many came so far.
func (s *Server) Requests() int64 { return s.requests.Load() }

// Fail makes requests go wrong as planned; nil: none.
func (s *Server) Fail(p Plan) { s.bad.Store(&p) }

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if plan := s.bad.Load(); plan != nil && *plan != nil {
		if wrong := (*plan)(r); wrong != nil {
			wrong(w, r, s.next)
			return
		}
	}
	s.next.ServeHTTP(w, r)
}

// decodeParts takes the signatures out of the parts of an upload, which gofakes3 does only for whole objects.
func decodeParts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if length, err := strconv.ParseInt(r.Header.Get("X-Amz-Decoded-Content-Length"), 10, 64); err == nil && r.URL.Query().Has("partNumber") {
			r.Body = io.NopCloser(&chunks{from: bufio.NewReader(r.Body)})
			r.ContentLength = length
			r.Header.Set("Content-Length", strconv.FormatInt(length, 10))
		}
		next.ServeHTTP(w, r)
	})
}

// chunks reads "SIZE;chunk-signature=…\r\nDATA\r\n" and ends at size 0.
type chunks struct {
	from *bufio.Reader
	left int64
	more bool
}

func (c *chunks) Read(p []byte) (int, error) {
	if c.left == 0 {
		if c.more {
			if _, err := c.from.Discard(2); err != nil {
				return 0, err
			}
		}
		line, err := c.from.ReadString('\n')
		if err != nil {
			return 0, io.ErrUnexpectedEOF
		}
		size, _, _ := strings.Cut(line, ";")
		if c.left, err = strconv.ParseInt(size, 16, 64); err != nil {
			return 0, err
		}
		if c.more = true; c.left == 0 {
			return 0, io.EOF
		}
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
