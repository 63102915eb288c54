package objectstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

// pause waits before another attempt: longer each time, and never at the same moment as everybody else.
func pause(ctx context.Context, try int) error {
	wait := time.Duration(float64(min(200*time.Millisecond<<min(try-1, 10), 2*time.Second)) * (0.5 + rand.Float64()/2))
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// GetRange asks for a range by one request. If the body is cut, the rest is asked for, of the same version of the object.
func (s *S3) GetRange(ctx context.Context, key string, offset, n int64) (io.ReadCloser, Object, error) {
	if err := checkRange(key, offset); err != nil {
		return nil, Object{}, err
	}
	if n == 0 {
		return s.nothing(ctx, key)
	}
	b := &body{ctx: ctx, store: s, key: key, next: offset, left: n}
	o, err := b.ask()
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok && answer.StatusCode == http.StatusRequestedRangeNotSatisfiable {
		return s.nothing(ctx, key) // it begins after the end
	}
	if err != nil {
		return nil, Object{}, s.failure(ctx, key, err)
	}
	return b, o, nil
}

// nothing describes an object and reads no byte of it.
func (s *S3) nothing(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	info, err := s.core.StatObject(ctx, s.place.bucket, s.name(key), minio.StatObjectOptions{})
	if err != nil {
		return nil, Object{}, s.failure(ctx, key, err)
	}
	return http.NoBody, Object{Key: key, Bytes: info.Size, Modified: info.LastModified}, nil
}

// body is the content of a range.
type body struct {
	ctx        context.Context
	store      *S3
	key        string
	next, left int64  // what is still to be read; left < 0 before the first answer: to the end
	version    string // the ETag that the first answer had
	from       io.ReadCloser
	tries      int
}

// ask requests what is left.
func (b *body) ask() (Object, error) {
	var o minio.GetObjectOptions
	if b.left > 0 {
		if err := o.SetRange(b.next, b.next+b.left-1); err != nil {
			return Object{}, err
		}
	} else if b.next > 0 {
		if err := o.SetRange(b.next, 0); err != nil {
			return Object{}, err
		}
	}
	if b.version != "" {
		if err := o.SetMatchETag(b.version); err != nil {
			return Object{}, err
		}
	}
	from, info, header, err := b.store.core.GetObject(b.ctx, b.store.place.bucket, b.store.name(b.key), o)
	if err != nil {
		return Object{}, err
	}
	begin, whole, err := extent(header, info.Size)
	if err == nil && begin != b.next {
		err = fmt.Errorf("the object store answers with bytes from %d on, not from %d on", begin, b.next)
	}
	if err != nil {
		_ = from.Close()
		return Object{}, err
	}
	b.from, b.version = from, info.ETag
	if rest := whole - b.next; b.left < 0 || b.left > rest {
		b.left = rest
	}
	return Object{Key: b.key, Bytes: whole, Modified: info.LastModified}, nil
}

// extent is where an answer begins and the size of the whole object: "bytes 0-99/1234".
func extent(header http.Header, length int64) (begin, whole int64, err error) {
	given := header.Get("Content-Range")
	if given == "" {
		if length < 0 {
			return 0, 0, errors.New("the object store does not say how long the object is")
		}
		return 0, length, nil
	}
	span, total, ok := strings.Cut(strings.TrimPrefix(given, "bytes "), "/")
	from, _, dash := strings.Cut(span, "-")
	begin, err1 := strconv.ParseInt(from, 10, 64)
	whole, err2 := strconv.ParseInt(total, 10, 64)
	if !ok || !dash || err1 != nil || err2 != nil || begin < 0 || whole < begin {
		return 0, 0, fmt.Errorf("the object store answers with the range %.40q", given)
	}
	return begin, whole, nil
}

// Read reads on where a cut answer ended.
func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.EOF
	}
	if b.from == nil {
		if err := b.again(); err != nil {
			return 0, err
		}
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.next, b.left = b.next+int64(n), b.left-int64(n)
	if n > 0 {
		b.tries = 0
	}
	if err == nil || b.left == 0 {
		return n, nil
	}
	if b.ctx.Err() != nil {
		return n, b.ctx.Err()
	}
	_ = b.from.Close()
	b.from = nil
	if b.tries++; b.tries >= b.store.place.attempts {
		return n, fmt.Errorf("%s/%s: the answer is cut again and again: %w", b.store, b.key, err)
	}
	return n, nil
}

func (b *body) again() error {
	if err := pause(b.ctx, max(b.tries, 1)); err != nil {
		return err
	}
	_, err := b.ask()
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusPreconditionFailed, http.StatusRequestedRangeNotSatisfiable:
		return fmt.Errorf("%s/%s was replaced while it was read", b.store, b.key)
	}
	return b.store.failure(b.ctx, b.key, err)
}

// Close ends the request.
func (b *body) Close() error {
	if b.from == nil {
		return nil
	}
	return b.from.Close()
}
