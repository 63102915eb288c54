// Package otlp sends metrics and spans over the OpenTelemetry protocol: protobuf over HTTP.
package otlp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/gzip"
	collectormetrics "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collectortrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	metrics "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"stackagent/internal/text"
)

const (
	metricsPath, tracesPath = "/v1/metrics", "/v1/traces"

	requestTimeout = 10 * time.Second
	maxResponse    = 1 << 20 // bytes of an answer that are read
	maxSaid        = 200     // characters of what a receiver says
	maxAfter       = 1 << 30 // seconds of a pause that a receiver asks for
)

// Options say where and how to send.
type Options struct {
	Endpoint string            // as OTEL_EXPORTER_OTLP_ENDPOINT: /v1/metrics and /v1/traces are added
	Headers  map[string]string // credentials, as a rule
	Insecure bool              // Headers may go over plain HTTP to another machine
	Version  string            // of stackagent
}

// Client sends to one receiver.
type Client struct {
	base    string
	headers http.Header
	version string
	http    *http.Client
}

// NewClient checks the options. Nothing is sent yet.
func NewClient(o Options) (*Client, error) {
	u, err := url.Parse(o.Endpoint)
	switch {
	case err != nil:
		return nil, errors.New("this is no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, errors.New("want http://HOST:PORT or https://HOST:PORT")
	case u.User != nil:
		return nil, errors.New("put credentials into a header: addresses are printed")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("want a URL without ? and #")
	case len(o.Headers) > 0 && u.Scheme == "http" && !loopback(u.Hostname()) && !o.Insecure:
		return nil, errors.New("headers would be sent without encryption: use https, or allow it with --otlp-insecure")
	}
	c := &Client{headers: http.Header{}, version: o.Version, http: &http.Client{
		Timeout:       requestTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	base := strings.TrimSuffix(u.String(), "/")
	for _, path := range []string{metricsPath, tracesPath} {
		base = strings.TrimSuffix(base, path)
	}
	c.base = base
	for name, value := range o.Headers {
		if !validHeader(name, value) {
			return nil, fmt.Errorf("%.40q is no header", name)
		}
		c.headers.Set(name, value)
	}
	return c, nil
}

// Endpoint is where the client sends to.
func (c *Client) Endpoint() string { return c.base }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func validHeader(name, value string) bool {
	return name != "" && textproto.TrimString(name) == name && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?={}", r)
	}) && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// A RefusedError is an answer other than success.
type RefusedError struct {
	Status int
	Said   string        // by the receiver
	Retry  bool          // it may take the same later
	After  time.Duration // not sooner than this; 0: it did not say
}

func (e *RefusedError) Error() string {
	s := "the receiver answers " + strconv.Itoa(e.Status) + " " + http.StatusText(e.Status)
	if e.Status >= 300 && e.Status < 400 {
		s += ", a redirect, which is not followed"
	}
	if e.Said != "" {
		s += ": " + e.Said
	}
	if e.After > 0 {
		s += fmt.Sprintf("; it asks for a pause of %v", e.After)
	}
	return s
}

// errAnswer: the receiver took the request, but what it says of it is not known. Sent again it would count twice.
var errAnswer = errors.New("the receiver took the request, but its answer cannot")

// Rejected is what a receiver did not take of a request that it answered with success.
type Rejected struct {
	N    int64
	Said string
}

// Metrics sends metrics once.
func (c *Client) Metrics(ctx context.Context, m []*metrics.ResourceMetrics) (Rejected, error) {
	var answer collectormetrics.ExportMetricsServiceResponse
	err := c.post(ctx, metricsPath, &collectormetrics.ExportMetricsServiceRequest{ResourceMetrics: m}, &answer)
	p := answer.GetPartialSuccess()
	return Rejected{max(0, p.GetRejectedDataPoints()), said(p.GetErrorMessage())}, err
}

// Spans sends spans once.
func (c *Client) Spans(ctx context.Context, s []*trace.ResourceSpans) (Rejected, error) {
	var answer collectortrace.ExportTraceServiceResponse
	err := c.post(ctx, tracesPath, &collectortrace.ExportTraceServiceRequest{ResourceSpans: s}, &answer)
	p := answer.GetPartialSuccess()
	return Rejected{max(0, p.GetRejectedSpans()), said(p.GetErrorMessage())}, err
}

func (c *Client) post(ctx context.Context, path string, request, answer proto.Message) error {
	body, err := proto.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding: %w", err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(body)
	if err := cmp.Or(err, z.Close()); err != nil {
		return fmt.Errorf("compressing: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, &packed)
	if err != nil {
		return fmt.Errorf("preparing the request: %w", err)
	}
	for name, values := range c.headers {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "stackagent/"+c.version)
	var connected atomic.Bool
	noted := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	response, err := c.http.Do(r.WithContext(httptrace.WithClientTrace(ctx, noted)))
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // the caller names the address
			err = u.Err
		}
		if !connected.Load() {
			err = &unsentError{err}
		}
		return fmt.Errorf("sending: %w", err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return refused(response, data)
	case err != nil:
		return fmt.Errorf("%w be read: %w", errAnswer, err)
	case len(data) > maxResponse:
		return fmt.Errorf("%w be read: it is longer than %d bytes", errAnswer, maxResponse)
	}
	if mediaType(response) != "application/x-protobuf" {
		return nil // it took all, as it says by its status
	}
	if err := proto.Unmarshal(data, answer); err != nil {
		return fmt.Errorf("%w be decoded", errAnswer)
	}
	return nil
}

func mediaType(r *http.Response) string {
	t, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	return strings.TrimSpace(t)
}

func refused(r *http.Response, data []byte) error {
	e := &RefusedError{Status: r.StatusCode}
	switch r.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.Retry = true
	}
	if s, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && s > 0 {
		e.After = time.Duration(min(s, maxAfter)) * time.Second
	}
	switch mediaType(r) {
	case "application/x-protobuf":
		e.Said = said(statusMessage(data))
	case "text/plain", "application/json":
		e.Said = said(string(data))
	}
	return e
}

// statusMessage is field 2 of a google.rpc.Status.
func statusMessage(data []byte) (message string) {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return message
		}
		data = data[n:]
		if number == 2 && kind == protowire.BytesType {
			v, n := protowire.ConsumeBytes(data)
			if n < 0 {
				return message
			}
			message, data = string(v), data[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, data); n < 0 {
			return message
		}
		data = data[n:]
	}
	return message
}

func said(s string) string { return text.Cut(text.OneLine(s), maxSaid) }

// CanRetry reports whether what failed may succeed later, and how long the receiver wants to be left alone.
func CanRetry(err error) (ok bool, after time.Duration) {
	var r *RefusedError
	if errors.As(err, &r) {
		return r.Retry, r.After
	}
	return err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, errAnswer), 0
}

// unsentError is one of a request that no connection took.
type unsentError struct{ error }

func (u *unsentError) Unwrap() error { return u.error }

// MayHave reports whether a receiver may have what it was sent before an error: it neither refused it nor was out of reach.
func MayHave(err error) bool {
	var r *RefusedError
	var u *unsentError
	return err != nil && !errors.As(err, &r) && !errors.As(err, &u)
}

// Version is that of stackagent.
func (c *Client) Version() string { return c.version }
