package jimage

import (
	"bytes"
	"strings"
)

// location is the attributes of one resource.
type location struct {
	module, parent, base, extension string
	offset                          uint64 // from the start of the resources
	compressed                      uint64 // bytes in the file; 0 if not compressed
	size                            uint64 // bytes once uncompressed
}

// The kinds of attributes; others are skipped.
const (
	attrEnd = iota
	attrModule
	attrParent
	attrBase
	attrExtension
	attrOffset
	attrCompressed
	attrUncompressed
)

// String returns the full name, as it is hashed.
func (l location) String() string {
	s := ""
	if l.module != "" {
		s = "/" + l.module + "/"
	}
	if l.parent != "" {
		s += l.parent + "/"
	}
	s += l.base
	if l.extension != "" {
		s += "." + l.extension
	}
	return s
}

// location decodes the attributes at an offset of the table of locations. Each
// is a byte, kind in the upper five bits and length less one in the lower
// three, followed by the value, big-endian on every machine.
func (im *Image) location(at int) (location, error) {
	var l location
	var v [8]uint64
	b := im.locations
	for {
		if at < 0 || at >= len(b) {
			return l, im.bad("location at %d of %d bytes", at, len(b))
		}
		kind, n := int(b[at]>>3), int(b[at]&7)+1
		if kind == attrEnd {
			break
		}
		at++
		if n > len(b)-at {
			return l, im.bad("location at %d of %d bytes", at, len(b))
		}
		value := uint64(0)
		for _, x := range b[at : at+n] {
			value = value<<8 | uint64(x)
		}
		at += n
		if kind < len(v) {
			v[kind] = value
		}
	}
	for _, s := range []struct {
		to *string
		at uint64
	}{{&l.module, v[attrModule]}, {&l.parent, v[attrParent]}, {&l.base, v[attrBase]}, {&l.extension, v[attrExtension]}} {
		var err error
		if *s.to, err = im.text(s.at); err != nil {
			return l, err
		}
	}
	l.offset, l.compressed, l.size = v[attrOffset], v[attrCompressed], v[attrUncompressed]
	return l, nil
}

// maxName bounds the strings of the image, in bytes.
const maxName = 1 << 16

// text returns the string at an offset of the table of strings, which ends at a
// zero byte.
func (im *Image) text(at uint64) (string, error) {
	if at >= uint64(len(im.strings)) {
		return "", im.bad("string at %d of %d bytes", at, len(im.strings))
	}
	b := im.strings[at:min(uint64(len(im.strings)), at+maxName)]
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		return "", im.bad("string at %d has no end", at)
	}
	return string(b[:end]), nil
}

func hash(name string, seed uint32) uint32 {
	for i := range len(name) {
		seed = seed*hashSeed ^ uint32(name[i])
	}
	return seed & 0x7FFFFFFF
}

// find looks a full name up in the perfect hash: the redirect table says either
// the index itself or the seed of a second hash.
func (im *Image) find(name string) (location, error) {
	n := uint32(len(im.redirect) / 4)
	slot := hash(name, hashSeed) % n
	switch to := int32(im.order.Uint32(im.redirect[4*slot:])); {
	case to < 0:
		slot = uint32(-1 - to)
	case to > 0:
		slot = hash(name, uint32(to)) % n
	default:
		return location{}, ErrNotFound
	}
	if slot >= n {
		return location{}, im.bad("redirect to entry %d of %d", slot, n)
	}
	l, err := im.location(int(im.order.Uint32(im.offsets[4*slot:])))
	if err != nil {
		return location{}, err
	}
	if l.String() != name {
		return location{}, ErrNotFound
	}
	return l, nil
}

// moduleOf returns the module that holds a package ("java/lang"). The resource
// "/packages/java.lang" lists the modules that have the package, each with a
// flag that is 0 where the package has classes.
func (im *Image) moduleOf(pkg string) (string, error) {
	l, err := im.find("/packages/" + strings.ReplaceAll(pkg, "/", "."))
	if err != nil {
		return "", err
	}
	b, err := im.read(l)
	if err != nil {
		return "", err
	}
	for ; len(b) >= 8; b = b[8:] {
		if im.order.Uint32(b) == 0 {
			return im.text(uint64(im.order.Uint32(b[4:])))
		}
	}
	return "", ErrNotFound
}
