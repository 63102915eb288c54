package objectstore

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
	"github.com/minio/minio-go/v7/pkg/s3utils"
	"gopkg.in/ini.v1"

	"stackagent/internal/text"
)

// scheme begins an address in an object store, scheme1 what filepath.Clean makes of it.
const (
	scheme  = "s3://"
	scheme1 = "s3:/"
)

// Remote says whether an address or path names an object store, not a folder.
func Remote(address string) bool { return strings.HasPrefix(address, scheme1) }

// Open opens a store by its address: s3://bucket/prefix?option=value&… or a folder's path.
func Open(ctx context.Context, address string) (Store, error) {
	if !Remote(address) {
		if scheme, _, ok := strings.Cut(address, "://"); ok {
			return nil, fmt.Errorf("addresses with %.20q are not known; give a folder, or s3://BUCKET/PREFIX", scheme+"://")
		}
		return OpenFolder(address)
	}
	a, err := parse(address)
	if err != nil {
		return nil, err
	}
	return openS3(ctx, a)
}

// place is what the address of an object store says.
type place struct {
	bucket, prefix string
	endpoint       *url.URL // nil: that of Amazon
	region         string
	lookup         minio.BucketLookupType
	encryption     encrypt.ServerSide // nil: as the bucket is set up
	anonymous      bool
	silence        time.Duration // a connection without a byte for so long is given up
	attempts       int
}

// Defaults of a place, and the most that an address may ask for.
const (
	defaultSilence, maxSilence   = 60 * time.Second, time.Hour
	defaultAttempts, maxAttempts = 8, 100
)

// options are the parameters of an address.
var options = map[string]func(p *place, value string) error{
	"endpoint": func(p *place, v string) error {
		u, err := url.Parse(v)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
			return errors.New("want http://host:port or https://host:port, without a password") // what was given may hold one
		}
		p.endpoint = u
		return nil
	},
	"region": func(p *place, v string) error { p.region = v; return nil },
	"path-style": func(p *place, v string) error {
		path, err := strconv.ParseBool(v)
		if err != nil {
			return errors.New("want true or false")
		}
		p.lookup = minio.BucketLookupDNS
		if path {
			p.lookup = minio.BucketLookupPath
		}
		return nil
	},
	"anonymous": func(p *place, v string) (err error) { p.anonymous, err = strconv.ParseBool(v); return err },
	"timeout": func(p *place, v string) (err error) {
		p.silence, err = time.ParseDuration(v)
		if err == nil && (p.silence < time.Millisecond || p.silence > maxSilence) {
			err = fmt.Errorf("want a time up to %s", maxSilence)
		}
		return err
	},
	"attempts": func(p *place, v string) (err error) {
		p.attempts, err = strconv.Atoi(v)
		if err == nil && (p.attempts < 1 || p.attempts > maxAttempts) {
			err = fmt.Errorf("want 1 to %d", maxAttempts)
		}
		return err
	},
	"sse":            nil, // both by setEncryption
	"sse-kms-key-id": nil,
}

func withoutScheme(address string) string {
	return strings.TrimPrefix(strings.TrimPrefix(address, scheme), scheme1)
}

// CheckAddress refuses what would be another place than it seems: path elements that cleaning removes, and what URLs
// have behind a #.
func CheckAddress(address string) error {
	where, _, _ := strings.Cut(withoutScheme(address), "?")
	if strings.Contains(address, "#") {
		return errors.New("the address of the object store has a #, which means nothing there; options follow a ?, as in s3://BUCKET/PREFIX?region=NAME")
	}
	for i, name := range strings.Split(strings.TrimSuffix(where, "/"), "/") {
		if i > 0 && (name == "" || name == "." || name == "..") {
			return fmt.Errorf("the address of the object store has %q in its path; no key of ours has that. Give s3://BUCKET/PREFIX with single slashes", "/"+name+"/")
		}
	}
	return nil
}

// parse reads an address. What it does not give comes from the environment and the AWS configuration file.
func parse(address string) (place, error) {
	p := place{silence: defaultSilence, attempts: defaultAttempts}
	if err := CheckAddress(address); err != nil {
		return place{}, err
	}
	rest, query, _ := strings.Cut(withoutScheme(address), "?")
	p.bucket, p.prefix, _ = strings.Cut(strings.TrimSuffix(rest, "/"), "/")
	if strings.ContainsAny(p.bucket, "@:") { // keys that somebody took for a part of an address must not show up in messages
		return place{}, errors.New("the name of the bucket has an @ or a colon; give credentials by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, never in the address")
	}
	if err := s3utils.CheckValidBucketName(p.bucket); err != nil {
		return place{}, fmt.Errorf("bucket %.80q: %w", p.bucket, err)
	}
	if err := checkPrefix(p.prefix); err != nil {
		return place{}, err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return place{}, errors.New("the options after ? of an address are not of the form name=value&name=value")
	}
	for name, given := range values {
		set, known := options[name]
		if !known {
			names := make([]string, 0, len(options))
			for o := range options {
				names = append(names, o)
			}
			return place{}, fmt.Errorf("unknown option %.40q of an object store%s", name, text.DidYouMean(name, names))
		}
		if len(given) > 1 || given[0] == "" {
			return place{}, fmt.Errorf("option %s of the object store: give it once, with a value", name)
		}
		if set == nil {
			continue
		}
		if err := set(&p, given[0]); err != nil {
			return place{}, fmt.Errorf("option %s of the object store: %w", name, err)
		}
	}
	if err := p.setEncryption(values.Get("sse"), values.Get("sse-kms-key-id")); err != nil {
		return place{}, err
	}
	return p, p.complete()
}

func (p *place) setEncryption(kind, key string) (err error) {
	switch {
	case key != "" && kind != "aws:kms":
		return errors.New("option sse-kms-key-id of the object store wants sse=aws:kms")
	case kind == "AES256":
		p.encryption = encrypt.NewSSE()
	case kind == "aws:kms":
		p.encryption, err = encrypt.NewSSEKMS(key, nil)
	case kind != "":
		return fmt.Errorf("option sse of the object store is %.40q: want AES256 or aws:kms", kind)
	}
	return err
}

// complete fills in what the address left out.
func (p *place) complete() error {
	if p.endpoint == nil {
		for _, name := range []string{"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"} {
			if v := os.Getenv(name); v != "" {
				if err := options["endpoint"](p, v); err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				break
			}
		}
	}
	for _, region := range []string{os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), configuredRegion()} {
		if p.region == "" {
			p.region = region
		}
	}
	if p.region == "" && p.endpoint != nil {
		p.region = "us-east-1" // what stores outside of Amazon call theirs; they correct us if not
	}
	return nil
}

// configuredRegion is the region of the profile in the AWS configuration file, or empty. Keys are looked for elsewhere.
func configuredRegion() string {
	path := os.Getenv("AWS_CONFIG_FILE")
	if path == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		path = filepath.Join(home, ".aws", "config")
	}
	section := "default"
	if profile := os.Getenv("AWS_PROFILE"); profile != "" && profile != section {
		section = "profile " + profile
	}
	file, err := ini.Load(path)
	if err != nil {
		return "" // usually there is none
	}
	return file.Section(section).Key("region").String()
}
