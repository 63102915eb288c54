// Package access says who may see and change the sessions of which services on the shadow's page, as a file declares it.
package access

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"stackagent/internal/bounded"
	"stackagent/internal/text"
)

// maxFile bounds the file, bytes.
const maxFile = 1 << 20

// Policy is what a file declares.
type Policy struct {
	Proxy *Proxy `yaml:"proxy"` // says who asks
	Rules []Rule `yaml:"rules"`
}

// Proxy is a reverse proxy that has checked who asks.
type Proxy struct {
	Header       string   `yaml:"header"`        // has the user's name
	GroupsHeader string   `yaml:"groups_header"` // has the groups, separated by commas; "": there are none
	From         []string `yaml:"from"`          // addresses or networks of proxies; headers of others are ignored

	from []netip.Prefix
}

// Roles of a rule.
const (
	Viewer = "viewer"
	Admin  = "admin" // deletes and labels sessions, too
)

// Rule gives users and members of groups a role for services.
type Rule struct {
	Users    []string `yaml:"users"`
	Groups   []string `yaml:"groups"`
	Services []string `yaml:"services"` // globs; * includes sessions without a service
	Role     string   `yaml:"role"`
}

// Read reads the file at path.
func Read(path string) (*Policy, error) {
	data, err := bounded.ReadFile(path, maxFile+1)
	if err != nil {
		return nil, fmt.Errorf("reading who may see what: %w", err)
	}
	p, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

var unknownKey = regexp.MustCompile(`field (.+) not found in type \S+`)

// misread is an error of the decoder without the names of Go types.
func misread(err error) error {
	message := err.Error()
	if e := new(yaml.TypeError); errors.As(err, &e) {
		message = strings.Join(e.Errors, "; ")
	}
	return errors.New(text.OneLine(unknownKey.ReplaceAllString(message, `there is no key "$1" here`)))
}

// Parse decodes and checks a policy.
func Parse(data []byte) (*Policy, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true) // a misspelt word must not open anything
	p := new(Policy)
	if err := d.Decode(p); errors.Is(err, io.EOF) {
		return nil, errors.New("it is empty: it needs proxy and rules")
	} else if err != nil {
		return nil, misread(err)
	}
	if d.Decode(new(yaml.Node)) != io.EOF {
		return nil, errors.New("it has a second document")
	}
	return p, p.check()
}

func (p *Policy) check() error {
	switch {
	case p.Proxy == nil:
		return errors.New("nobody can sign in: it needs proxy")
	case len(p.Rules) == 0:
		return errors.New("nobody may see anything: it needs rules")
	}
	if err := p.Proxy.check(); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	for i := range p.Rules {
		if err := p.Rules[i].check(); err != nil {
			return fmt.Errorf("rule %d: %w", i+1, err)
		}
	}
	return nil
}

func (p *Proxy) check() error {
	switch {
	case !headerName(p.Header):
		return errors.New("header: want the name of a header, such as X-Forwarded-User")
	case p.GroupsHeader != "" && !headerName(p.GroupsHeader):
		return fmt.Errorf("groups_header: %q is no name of a header", p.GroupsHeader)
	case len(p.From) == 0:
		return errors.New("from: name the addresses of the proxies; everybody else could claim to be anybody")
	}
	for _, s := range p.From {
		prefix, err := netip.ParsePrefix(s)
		if err != nil {
			var one netip.Addr
			if one, err = netip.ParseAddr(s); err != nil {
				return fmt.Errorf("from: %q is neither an address nor a network such as 10.1.0.0/16", s)
			}
			one = one.Unmap()
			prefix = netip.PrefixFrom(one, one.BitLen())
		}
		p.from = append(p.from, prefix.Masked())
	}
	return nil
}

func headerName(s string) bool {
	return s != "" && !bytes.ContainsFunc([]byte(s), func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-')
	})
}

// Trusts reports whether a connection from this address may be a proxy's.
func (p *Proxy) Trusts(from netip.Addr) bool {
	from = from.Unmap().WithZone("")
	return slices.ContainsFunc(p.from, func(n netip.Prefix) bool { return n.Contains(from) })
}

func (r *Rule) check() error {
	switch {
	case len(r.Users)+len(r.Groups) == 0:
		return errors.New("it needs users or groups")
	case slices.Contains(r.Users, "") || slices.Contains(r.Groups, ""):
		return errors.New("a user or group has no name")
	case len(r.Services) == 0:
		return errors.New("services: name some, as globs; \"*\" is all")
	case r.Role != Viewer && r.Role != Admin:
		return fmt.Errorf("role: want %s or %s", Viewer, Admin)
	}
	for _, glob := range r.Services {
		if _, err := path.Match(glob, ""); err != nil || glob == "" {
			return fmt.Errorf("services: %q is not a glob", glob)
		}
	}
	return nil
}
