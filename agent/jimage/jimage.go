// Package jimage reads the classes of a JDK from its run-time image, the file
// lib/modules.
//
// The format (magic 0xCAFEDADA, version 1.0) is that of the JDK's own reader,
// src/java.base/share/native/libjimage in the OpenJDK sources: a header, a
// perfect hash over the names of the resources, their attributes, a table of
// strings, then the resources. The index is held in memory, resources are read
// when asked for.
package jimage

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// FormatError says that a file is not a run-time image this package can read.
type FormatError struct {
	Path string
	What string
}

func (e *FormatError) Error() string { return "run-time image " + e.Path + ": " + e.What }

// CompressedError says that a resource is compressed by a method other than
// "zip" (jlink --compress=1 and the like).
type CompressedError struct {
	Resource string // /module/package/Name.class
	Method   string // as named in the image
}

func (e *CompressedError) Error() string {
	return fmt.Sprintf("resource %s is compressed by the unknown method %q", e.Resource, e.Method)
}

// ErrNotFound is returned for a class that the image does not hold.
var ErrNotFound = errors.New("not in the run-time image")

const (
	magic      = 0xCAFEDADA
	headerSize = 28
	maxIndex   = 1 << 28 // bytes; a full JDK needs about 2 MiB
	hashSeed   = 0x01000193
)

// Image is an open run-time image. Its methods may be called from several
// goroutines at once.
type Image struct {
	path      string
	file      io.ReaderAt
	closer    io.Closer
	order     binary.ByteOrder
	size      int64 // of the file
	data      int64 // offset of the resources in the file
	redirect  []byte
	offsets   []byte
	locations []byte
	strings   []byte
}

// Open opens the image at path, typically $JAVA_HOME/lib/modules.
func Open(path string) (*Image, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open run-time image: %w", err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("open run-time image: %w", err)
	}
	im, err := newImage(path, f, st.Size())
	if err != nil {
		f.Close()
		return nil, err
	}
	im.closer = f
	return im, nil
}

// Close closes the file.
func (im *Image) Close() error {
	if im.closer == nil {
		return nil
	}
	return im.closer.Close()
}

func (im *Image) bad(format string, args ...any) error {
	return &FormatError{Path: im.path, What: fmt.Sprintf(format, args...)}
}

// newImage reads the header and the index.
func newImage(path string, file io.ReaderAt, size int64) (*Image, error) {
	im := &Image{path: path, file: file, size: size}
	var h [headerSize]byte
	if _, err := file.ReadAt(h[:], 0); err != nil {
		return nil, im.bad("no header: %v", err)
	}
	switch {
	case binary.LittleEndian.Uint32(h[:]) == magic:
		im.order = binary.LittleEndian
	case binary.BigEndian.Uint32(h[:]) == magic:
		im.order = binary.BigEndian
	default:
		return nil, im.bad("no magic number %#x", magic)
	}
	if v := im.order.Uint32(h[4:]); v != 1<<16 {
		return nil, im.bad("version %d.%d, known is 1.0", v>>16, v&0xFFFF)
	}
	table := int64(im.order.Uint32(h[16:]))
	locations := int64(im.order.Uint32(h[20:]))
	stringsSize := int64(im.order.Uint32(h[24:]))
	index := 8*table + locations + stringsSize
	if table == 0 || index > size-headerSize || index > maxIndex {
		return nil, im.bad("index of %d entries and %d bytes in a file of %d bytes", table, index, size)
	}
	b := make([]byte, index)
	if _, err := file.ReadAt(b, headerSize); err != nil {
		return nil, im.bad("reading the index: %v", err)
	}
	im.redirect, b = b[:4*table], b[4*table:]
	im.offsets, b = b[:4*table], b[4*table:]
	im.locations, im.strings = b[:locations], b[locations:]
	im.data = headerSize + index
	return im, nil
}

// Class returns the bytes of a class by its internal name ("java/lang/Object").
// The error wraps ErrNotFound if there is none.
func (im *Image) Class(internalName string) ([]byte, error) {
	pkg := ""
	for i := len(internalName) - 1; i >= 0; i-- {
		if internalName[i] == '/' {
			pkg = internalName[:i]
			break
		}
	}
	if pkg == "" {
		return nil, fmt.Errorf("class %s: %w", internalName, ErrNotFound)
	}
	module, err := im.moduleOf(pkg)
	if err != nil {
		return nil, fmt.Errorf("class %s: %w", internalName, err)
	}
	return im.Resource("/" + module + "/" + internalName + ".class")
}

// Resource returns the bytes of a resource by its full name
// ("/java.base/java/lang/Object.class").
func (im *Image) Resource(name string) ([]byte, error) {
	l, err := im.find(name)
	if err != nil {
		return nil, fmt.Errorf("resource %s: %w", name, err)
	}
	return im.read(l)
}

// Each calls f for every class of every module in the order of the file; the
// name is internal, module-info among them. It ends with the first error, which
// it returns. f may keep b.
func (im *Image) Each(f func(module, name string, b []byte) error) error {
	var list []location
	for i := 0; i < len(im.offsets); i += 4 {
		l, err := im.location(int(im.order.Uint32(im.offsets[i:])))
		if err != nil {
			return err
		}
		if l.extension == "class" && l.module != "modules" && l.module != "packages" {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, func(a, b location) int { return cmp.Compare(a.offset, b.offset) })
	for _, l := range list {
		b, err := im.read(l)
		if err != nil {
			return err
		}
		name := l.base
		if l.parent != "" {
			name = l.parent + "/" + l.base
		}
		if err := f(l.module, name, b); err != nil {
			return err
		}
	}
	return nil
}
