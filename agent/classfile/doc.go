// Package classfile reads, edits and writes Java class files up to version 69
// (JDK 25) with the standard library only.
//
// Three properties hold it together:
//
//   - Write after Parse is the identity. A method whose code was not edited is
//     copied byte for byte; the constant pool only grows at its end, so every
//     index in the copied parts stays right.
//   - Code is decoded on demand ([Member.Code]) into a list of instructions.
//     Everything that names a position (jumps, exception ranges, line numbers,
//     local variables, type annotations, stack map frames) does so through a
//     [Label], so edits need no arithmetic.
//   - No input makes it panic or allocate without bound; a typed error says what
//     is wrong and at which offset in the file.
//
// Strings are the raw modified UTF-8 of the file. Instructions are normalised
// when decoded: iload_0 becomes [OpIload] with Local 0, wide forms, goto_w and
// ldc_w become the plain opcode. The shortest form is chosen when writing.
package classfile
