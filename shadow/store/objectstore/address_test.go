package objectstore

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/encrypt"

	"stackagent/internal/testobjects"
)

// noEnvironment hides what this machine knows of object stores.
func noEnvironment(t *testing.T) {
	t.Helper()
	for _, name := range []string{
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY",
		"AWS_SECRET_KEY", "AWS_SESSION_TOKEN", "MINIO_ROOT_USER", "MINIO_ROOT_PASSWORD", "MINIO_ACCESS_KEY", "MINIO_SECRET_KEY", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN",
		"AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	} {
		t.Setenv(name, "")
	}
	none := filepath.Join(t.TempDir(), "none")
	t.Setenv("AWS_CONFIG_FILE", none)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", none)
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
}

func TestAddress(t *testing.T) {
	noEnvironment(t)
	for address, want := range map[string]string{
		"s3://bucket":                                  "bucket||||auto|8|1m0s",
		"s3:/bucket/a/b":                               "bucket|a/b|||auto|8|1m0s", // as filepath.Join leaves it
		"s3://bucket/a/b/":                             "bucket|a/b|||auto|8|1m0s",
		"s3://bucket/a?region=x&path-style=true":       "bucket|a||x|path|8|1m0s",
		"s3://bucket?endpoint=http://h:9&path-style=0": "bucket||http://h:9|us-east-1|dns|8|1m0s",
		"s3://bucket?endpoint=https%3A%2F%2Fh&timeout=5s&attempts=2": "bucket||https://h|us-east-1|auto|2|5s",
	} {
		p, err := parse(address)
		endpoint := ""
		if p.endpoint != nil {
			endpoint = p.endpoint.String()
		}
		lookup := map[minio.BucketLookupType]string{minio.BucketLookupAuto: "auto", minio.BucketLookupDNS: "dns", minio.BucketLookupPath: "path"}[p.lookup]
		if got := fmt.Sprintf("%s|%s|%s|%s|%s|%d|%v", p.bucket, p.prefix, endpoint, p.region, lookup, p.attempts, p.silence); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", address, got, err, want)
		}
	}
	for _, address := range []string{
		"s3://", "s3://a", "s3://bucket/../x", "s3://bucket/a//b", "s3://bucket?regoin=x", "s3://bucket?attempts=0", "s3://bucket?attempts=1000",
		"s3://bucket?timeout=0s", "s3://bucket?timeout=9999h", "s3://bucket?endpoint=ftp://h", "s3://bucket?endpoint=http://user:hidden@h", "s3://bucket?endpoint=http://h/path",
		"s3://bucket?endpoint=http://h?token=hidden", "s3://bucket?sse=rot13", "s3://bucket?sse-kms-key-id=k", "s3://bucket?path-style=maybe", "s3://bucket?%zz=hidden",
		"s3://bucket?a;b=hidden", "s3://bucket//x", "s3://bucket/x//", "s3://bucket/x/./y", "s3://bucket/x#hidden", "s3://bucket/x?y", "s3://bucket/x?region", "s3://bucket/x?region=a#hidden",
		"s3://bucket/x?region=a&region=b", "s3://bucket//",
	} {
		if _, err := parse(address); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestEnvironment(t *testing.T) {
	noEnvironment(t)
	file := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(file, []byte("[default]\nregion = r1\n[profile work]\nregion = r2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	region := func(want string) {
		t.Helper()
		if p, err := parse("s3://bucket"); err != nil || p.region != want {
			t.Errorf("region %q, %v; want %q", p.region, err, want)
		}
	}
	region("")
	t.Setenv("AWS_CONFIG_FILE", file)
	region("r1")
	t.Setenv("AWS_PROFILE", "work")
	region("r2")
	t.Setenv("AWS_DEFAULT_REGION", "r3")
	region("r3")
	t.Setenv("AWS_REGION", "r4")
	region("r4")
	t.Setenv("AWS_ENDPOINT_URL", "http://general")
	p, err := parse("s3://bucket")
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://special")
	p1, err1 := parse("s3://bucket")
	p2, err2 := parse("s3://bucket?endpoint=http://mine&region=r5")
	if err := errors.Join(err, err1, err2); err != nil || p.endpoint.Host != "general" || p1.endpoint.Host != "special" || p2.endpoint.Host != "mine" || p2.region != "r5" {
		t.Errorf("%v, %v, %v: %v", p.endpoint, p1.endpoint, p2.endpoint, err)
	}
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://user:hidden@h")
	if _, err := parse("s3://bucket"); err == nil || strings.Contains(err.Error(), "hidden") {
		t.Errorf("a password in the environment: %v", err)
	}
}

// TestCredentials: who has credentials is asked in the usual order, and nobody's appear in an error.
func TestCredentials(t *testing.T) {
	noEnvironment(t)
	key := func() string {
		t.Helper()
		c, err := findCredentials(t.Context(), false)
		if err != nil {
			return err.Error()
		}
		v, err := c.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
		if err != nil {
			t.Fatal(err)
		}
		return v.AccessKeyID
	}
	if got := key(); !strings.Contains(got, "AWS_ACCESS_KEY_ID") {
		t.Errorf("without any: %s", got)
	}
	role := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"AccessKeyId": "role", "SecretAccessKey": "hidden", "Token": "t", "Expiration": %q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
	}))
	defer role.Close()
	t.Setenv("AWS_EC2_METADATA_DISABLED", "")
	t.Setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", role.URL)
	if got := key(); got != "role" {
		t.Errorf("a role: %s", got)
	}
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[default]\naws_access_key_id = file\naws_secret_access_key = hidden\n[half]\naws_access_key_id = hidden\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	if got := key(); got != "file" {
		t.Errorf("a file: %s", got)
	}
	t.Setenv("MINIO_ACCESS_KEY", "minio")
	t.Setenv("MINIO_SECRET_KEY", "hidden")
	if got := key(); got != "minio" {
		t.Errorf("MinIO's variables: %s", got)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "env")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "hidden")
	if got := key(); got != "env" {
		t.Errorf("Amazon's variables: %s", got)
	}
	noEnvironment(t)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_PROFILE", "half")
	if got := key(); !strings.Contains(got, "partial") || strings.Contains(got, "hidden") {
		t.Errorf("half of a profile: %s", got)
	}
	if c, err := findCredentials(t.Context(), true); err != nil {
		t.Error(err)
	} else if v, err := c.GetWithContext(&credentials.CredContext{Client: http.DefaultClient}); err != nil || v.AccessKeyID != "" || !v.SignerType.IsAnonymous() {
		t.Errorf("anonymous: %+v, %v", v.SignerType, err)
	}
}

// TestEncryption: what is written asks for encryption, parts of a large object, too; what is read does not.
func TestEncryption(t *testing.T) {
	for options, want := range map[string][2]string{
		"": {}, "&sse=AES256": {"AES256"}, "&sse=aws:kms&sse-kms-key-id=key-1": {"aws:kms", "key-1"}, "&sse=aws:kms": {"aws:kms"},
	} {
		s, f := newFake(t, options)
		var puts, others atomic.Int64
		f.Fail(func(r *http.Request) testobjects.Fault {
			got := [2]string{r.Header.Get("X-Amz-Server-Side-Encryption"), r.Header.Get("X-Amz-Server-Side-Encryption-Aws-Kms-Key-Id")}
			switch {
			case r.Method == http.MethodPut && got == want:
				puts.Add(1)
			case r.Method == http.MethodPut, got != [2]string{}:
				others.Add(1)
			}
			return nil
		})
		put(t, s, "a", "content")
		if err := s.PutIfAbsent(t.Context(), "b", strings.NewReader("x"), 1); err != nil {
			t.Error(err)
		}
		if got, _ := get(t, s, "a", 0, -1); got != "content" || puts.Load() != 2 || others.Load() != 0 {
			t.Errorf("%s: %q, %d writes as wanted, %d others", options, got, puts.Load(), others.Load())
		}
	}
	if p, err := parse("s3://bucket?sse=aws:kms"); err != nil || p.encryption.Type() != encrypt.KMS {
		t.Errorf("%+v, %v", p.encryption, err)
	}
}

// TestHostileNames: what others put into a bucket is not listed if its name is none of ours.
func TestHostileNames(t *testing.T) {
	s, f := newFake(t, "")
	for _, name := range []string{"team/a/good", "team/a/../../etc/passwd", "team/a//x", `team/a/x\y`, "team/a/folder/", "team/abc", "elsewhere", "team/a/" + strings.Repeat("x", 300)} {
		f.Put(t, name, "content")
	}
	if got := keys(t, s, ""); !slices.Equal(got, []string{"good"}) {
		t.Errorf("listed: %q", got)
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("s3://bucket/a/b?region=x&endpoint=http://h:1&attempts=3&sse=AES256")
	f.Fuzz(func(t *testing.T, address string) {
		p, err := parse(address)
		if err == nil && (p.bucket == "" || p.prefix != "" && CheckKey(p.prefix) != nil || p.attempts < 1 || p.silence <= 0) {
			t.Errorf("%q: %+v", address, p)
		}
	})
}

func FuzzExtent(f *testing.F) {
	f.Add("bytes 0-99/1234", int64(100))
	f.Fuzz(func(t *testing.T, given string, length int64) {
		begin, whole, err := extent(http.Header{"Content-Range": {given}}, length)
		if err == nil && (begin < 0 || whole < begin) {
			t.Errorf("%q: %d of %d", given, begin, whole)
		}
	})
}
