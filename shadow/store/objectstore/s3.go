package objectstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"stackagent/internal/text"
)

const (
	// partBytes is the size of a part of an object that is larger; parts of one object are sent partThreads at a time.
	partBytes   = 16 << 20
	partThreads = 4
	// writerKey is the metadata by which PutIfAbsent recognizes what it wrote itself.
	writerKey = "Stackagent-Writer"
	// maxMessage cuts messages of a server.
	maxMessage = 300
)

// S3 is a store in a bucket of an S3-compatible object store.
type S3 struct {
	core  *minio.Core
	place place
}

func openS3(ctx context.Context, p place) (*S3, error) {
	creds, err := findCredentials(ctx, p.anonymous)
	if err != nil {
		return nil, err
	}
	return newS3(p, creds)
}

func newS3(p place, creds *credentials.Credentials) (*S3, error) {
	host, secure := "s3.amazonaws.com", true
	if p.endpoint != nil {
		host, secure = p.endpoint.Host, p.endpoint.Scheme == "https"
	}
	core, err := minio.NewCore(host, &minio.Options{
		Creds: creds, Secure: secure, Region: p.region, BucketLookup: p.lookup, MaxRetries: p.attempts, Transport: newTransport(p.silence),
	})
	if err != nil {
		return nil, err
	}
	return &S3{core: core, place: p}, nil
}

// String is the address without options.
func (s *S3) String() string { return scheme + path.Join(s.place.bucket, s.place.prefix) }

func (s *S3) name(key string) string { return path.Join(s.place.prefix, key) }

func (s *S3) put(ctx context.Context, key string, content io.ReadSeeker, size int64, o minio.PutObjectOptions) error {
	o.ServerSideEncryption = s.place.encryption
	o.PartSize, o.NumThreads = partBytes, partThreads
	o.DisableContentSha256 = size == 0 // not every server takes a signature in pieces of nothing
	if err := checkSize(content, size); err != nil {
		return err
	}
	// minio-go closes what it can close, and reads parts at once if it can; the content is the caller's.
	var body io.Reader = struct{ io.ReadSeeker }{content}
	if at, ok := content.(io.ReaderAt); ok {
		body = io.NewSectionReader(at, 0, size)
	}
	_, err := s.core.Client.PutObject(ctx, s.place.bucket, s.name(key), body, size, o)
	return err
}

// Put sends large objects in parts, some at a time. If it fails, the parts that were sent are removed.
func (s *S3) Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	return s.failure(ctx, key, s.put(ctx, key, content, size, minio.PutObjectOptions{}))
}

// PutIfAbsent sends one request, whatever the size (S3 allows 5 GiB), on the condition that there is no such object. If
// an attempt's answer is lost, the next one finds the object that the first one wrote. The object says who wrote it, so
// that this is a success.
func (s *S3) PutIfAbsent(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	me := rand.Text()
	o := minio.PutObjectOptions{DisableMultipart: true, UserMetadata: map[string]string{writerKey: me}}
	o.SetMatchETagExcept("*")
	var err error
	for try := 1; ; try++ {
		err = s.put(ctx, key, content, size, o)
		if minio.ToErrorResponse(err).StatusCode != http.StatusConflict || try == s.place.attempts {
			break // else another writer is at it just now: whether it succeeds is known soon
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
	if err == nil {
		return nil
	}
	status := minio.ToErrorResponse(err).StatusCode
	if status >= 400 && status < 500 && status != http.StatusPreconditionFailed {
		return s.failure(ctx, key, err)
	}
	// Somebody wrote it before, or all answers were lost.
	info, statErr := s.core.Client.StatObject(ctx, s.place.bucket, s.name(key), minio.StatObjectOptions{})
	switch {
	case statErr == nil && writer(info) == me:
		return nil
	case status == http.StatusPreconditionFailed && statErr == nil:
		return fmt.Errorf("%s/%s: %w", s, key, ErrExists)
	case status == http.StatusPreconditionFailed && minio.ToErrorResponse(statErr).StatusCode != http.StatusNotFound:
		return s.failure(ctx, key, statErr)
	case status == http.StatusPreconditionFailed: // it existed and was deleted meanwhile; whether it was ours nobody knows
		return fmt.Errorf("%s/%s: %w", s, key, ErrExists)
	}
	return s.failure(ctx, key, err)
}

// writer is what an object says of who wrote it. Servers differ in how they spell the name.
func writer(info minio.ObjectInfo) string {
	for k, v := range info.UserMetadata {
		if strings.EqualFold(k, writerKey) {
			return v
		}
	}
	return ""
}

// List asks for a thousand keys at a time.
func (s *S3) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Object{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		root := ""
		if s.place.prefix != "" {
			root = s.place.prefix + "/"
		}
		for o := range s.core.ListObjectsIter(ctx, s.place.bucket, minio.ListObjectsOptions{Prefix: root + prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Object{}, s.failure(ctx, prefix, o.Err))
				return
			}
			key, ours := strings.CutPrefix(o.Key, root)
			if !ours || !strings.HasPrefix(key, prefix) || o.Size < 0 || CheckKey(key) != nil { // names from outside: those of ours are clean
				continue
			}
			if !yield(Object{Key: key, Bytes: o.Size, Modified: o.LastModified}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Object{}, err)
		}
	}
}

// Delete removes an object; the store answers the same if there is none.
func (s *S3) Delete(ctx context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	err := s.core.RemoveObject(ctx, s.place.bucket, s.name(key), minio.RemoveObjectOptions{})
	if err = s.failure(ctx, key, err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// CleanUploads removes the sent parts of objects below prefix that were begun more than age ago and never completed, and
// says of how many objects.
func (s *S3) CleanUploads(ctx context.Context, prefix string, age time.Duration) (int, error) {
	if err := checkPrefix(prefix); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	root := s.name(prefix)
	if strings.HasSuffix(prefix, "/") || prefix == "" && root != "" {
		root += "/"
	}
	removed := 0
	for u := range s.core.ListIncompleteUploads(ctx, s.place.bucket, root, true) {
		if u.Err != nil {
			return removed, s.failure(ctx, prefix, u.Err)
		}
		if !strings.HasPrefix(u.Key, root) || time.Since(u.Initiated) < age {
			continue
		}
		err := s.core.AbortMultipartUpload(ctx, s.place.bucket, u.Key, u.UploadID)
		if err != nil && minio.ToErrorResponse(err).StatusCode != http.StatusNotFound { // else its writer completed or removed it
			return removed, s.failure(ctx, prefix, err)
		}
		removed++
	}
	return removed, ctx.Err()
}

// failure names the object and turns the server's answer into one of our errors. What a server says is cut and cleaned.
func (s *S3) failure(ctx context.Context, key string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	name := scheme + path.Join(s.place.bucket, s.name(key))
	answer, answered := errors.AsType[minio.ErrorResponse](err)
	switch {
	case !answered:
		return fmt.Errorf("%s: %w", name, err)
	case answer.Code == minio.NoSuchBucket:
		return fmt.Errorf("there is no bucket %s", s.place.bucket)
	case answer.StatusCode == http.StatusNotFound:
		return fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return fmt.Errorf("%s: the object store answers %d %s: %s", name, answer.StatusCode,
		text.Cut(text.OneLine(answer.Code), maxMessage), text.Cut(text.OneLine(answer.Message), maxMessage))
}
