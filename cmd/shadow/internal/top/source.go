package top

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
)

const (
	// patience bounds one question: an answer is a second's figures.
	patience = 5 * time.Second
	// longestAnswer bounds what a page may send.
	longestAnswer = 32 << 20
)

// Page is the live page of a shadow.
type Page struct {
	base     url.URL
	password string
	client   http.Client
}

// NewPage prepares to ask a page; caFile, if not empty, has the authorities that its certificate is checked against.
func NewPage(address, password, caFile string) (*Page, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, console.Usagef("%s is not the address of a live page; want http://HOST:PORT", address)
	case u.User != nil:
		return nil, console.Usagef("give the page's password with --token-file: every user of this machine can read a command line")
	}
	p := &Page{base: url.URL{Scheme: u.Scheme, Host: u.Host}, password: password}
	// A redirect could lead the password elsewhere.
	p.client = http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--tls-ca %s: no certificate in PEM", caFile)
		}
		p.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	}
	return p, nil
}

func (p *Page) String() string { return p.base.String() }

var (
	// errGone is the answer for a JVM that is not recorded now.
	errGone     = errors.New("the JVM is not recorded now")
	errNotFound = errors.New("it is no shadow, or an older one")
)

// get asks for a path and decodes the JSON of the answer.
func (p *Page) get(ctx context.Context, path string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base.String()+path, http.NoBody)
	if err != nil {
		return fmt.Errorf("asking %s: %w", p, err)
	}
	if p.password != "" {
		r.SetBasicAuth("shadow", p.password)
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return p.unreachable(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer+1))
	switch {
	case answer.StatusCode != http.StatusOK:
		return p.refused(answer.StatusCode, string(body))
	case err != nil:
		return p.unreachable(err)
	case len(body) > longestAnswer:
		return fmt.Errorf("%s sent more than %d MiB; is it a shadow?", p, longestAnswer>>20)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s is no live page of a shadow: %w", p, err)
	}
	return nil
}

// unreachable says what to do about a page that does not answer.
func (p *Page) unreachable(err error) error {
	var unknown x509.UnknownAuthorityError
	var plain tls.RecordHeaderError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no shadow serves a live page at %s: start one with shadow serve, or give its address: shadow top http://HOST:PORT", p)
	case errors.As(err, &unknown):
		return fmt.Errorf("the certificate of %s is from an unknown authority: give it with --tls-ca", p)
	case errors.As(err, &plain):
		return fmt.Errorf("%s does not speak TLS: use http://", p)
	}
	var at *url.Error // its text repeats the address with the query
	if errors.As(err, &at) {
		err = at.Err
	}
	return fmt.Errorf("%s does not answer: %w", p, err)
}

// refused says what to do about an answer that is an error.
func (p *Page) refused(status int, body string) error {
	reason := text.Cut(text.FirstLine(strings.TrimSpace(body)), 200)
	switch status {
	case http.StatusUnauthorized:
		return fmt.Errorf("%s asks for a password: give the file with --token-file; it is the token of the bus, or STORE/.keys/page", p)
	case http.StatusBadRequest:
		return fmt.Errorf("%s refuses: %s; an HTTPS page needs https://", p, reason)
	case http.StatusNotFound:
		return fmt.Errorf("%s has no live figures: %w", p, errNotFound)
	}
	return fmt.Errorf("%s refuses (%d): %s", p, status, reason)
}
