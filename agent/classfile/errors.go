package classfile

import "fmt"

// FormatError reports that the input is not a class file as the JVM specification
// (chapter 4) defines it.
type FormatError struct {
	Offset int    // bytes from the start of the class file
	What   string // what is wrong there
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("malformed class file at byte %d: %s", e.Offset, e.What)
}

// UnsupportedError says that the input may be valid but cannot be handled.
type UnsupportedError struct {
	What string // the feature, and where it was found
}

func (e *UnsupportedError) Error() string { return "unsupported class file: " + e.What }

// TooLargeError says that an edited method does not fit the limits of the
// class file format (65535 bytes of code, stack slots, locals or handlers).
type TooLargeError struct {
	Method string // class.name and descriptor
	What   string // "code", "locals", ...
	Size   int    // what it would need
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("method %s is too large: %s would need %d", e.Method, e.What, e.Size)
}

// PoolFullError says that the constant pool has no room for another entry.
type PoolFullError struct {
	Count int // constant_pool_count, at most 65535
}

func (e *PoolFullError) Error() string {
	return fmt.Sprintf("constant pool is full (%d of 65535)", e.Count)
}

// EditError says that an edit left something that cannot be written, such as a
// jump to a label that is nowhere in the code.
type EditError struct {
	Where string // class, or class.name and descriptor of the method
	What  string
}

func (e *EditError) Error() string { return "cannot write " + e.Where + ": " + e.What }

// EntryError says that a constant pool entry is not of the kind asked for.
type EntryError struct {
	Index uint16
	Tag   Tag    // what it is; TagUnusable where there is no entry
	Want  string // what was asked for
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("constant pool entry %d has tag %d, not that of a %s", e.Index, e.Tag, e.Want)
}
