package jimage

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
)

const (
	resourceMagic  = 0xCAFEFAFA
	resourceHeader = 29      // bytes
	maxResource    = 1 << 30 // bytes; the largest of a JDK have a few MiB
	maxLayers      = 4       // compressions on top of each other
)

// read returns the content of a resource.
func (im *Image) read(l location) ([]byte, error) {
	stored := l.size
	if l.compressed != 0 {
		stored = l.compressed
	}
	room := uint64(im.size - im.data)
	if l.offset > room || stored > room-l.offset || l.size > maxResource {
		return nil, im.bad("resource %s of %d bytes at %d exceeds the file", l, stored, l.offset)
	}
	b := make([]byte, stored)
	if _, err := im.file.ReadAt(b, im.data+int64(l.offset)); err != nil {
		return nil, im.bad("reading resource %s: %v", l, err)
	}
	if l.compressed == 0 {
		return b, nil
	}
	for range maxLayers {
		if len(b) < resourceHeader || im.order.Uint32(b) != resourceMagic {
			break
		}
		last := b[28] != 0
		var err error
		if b, err = im.uncompress(l, b); err != nil {
			return nil, err
		}
		if last {
			break
		}
	}
	if uint64(len(b)) != l.size {
		return nil, im.bad("resource %s has %d bytes, not %d", l, len(b), l.size)
	}
	return b, nil
}

// uncompress undoes one compression, described by the header in front.
func (im *Image) uncompress(l location, b []byte) ([]byte, error) {
	packed, plain := im.order.Uint64(b[4:]), im.order.Uint64(b[12:])
	method, err := im.text(uint64(im.order.Uint32(b[20:])))
	if err != nil {
		return nil, err
	}
	if method != "zip" {
		return nil, &CompressedError{Resource: l.String(), Method: method}
	}
	b = b[resourceHeader:]
	if packed > uint64(len(b)) || plain > maxResource {
		return nil, im.bad("resource %s: %d compressed bytes, %d plain", l, packed, plain)
	}
	z, err := zlib.NewReader(bytes.NewReader(b[:packed]))
	if err != nil {
		return nil, im.bad("resource %s: %v", l, err)
	}
	defer z.Close()
	out, err := io.ReadAll(io.LimitReader(z, int64(plain)+1))
	if err != nil {
		return nil, im.bad("resource %s: %v", l, err)
	}
	if uint64(len(out)) != plain {
		return nil, im.bad("resource %s: %s", l, fmt.Sprintf("%d bytes, not %d", len(out), plain))
	}
	return out, nil
}
