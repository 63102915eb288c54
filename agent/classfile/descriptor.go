package classfile

// maxArgSlots is the limit on the arguments of a method, `this` included.
const maxArgSlots = 255

// fieldType reads one type at the start of a descriptor. It gives the slots the
// type takes (2 for long and double) and its length in bytes, 0 if it is bad.
func fieldType(d string) (slots, length int) {
	i := 0
	for i < len(d) && d[i] == '[' {
		i++
	}
	if i == len(d) || i > 255 {
		return 0, 0
	}
	switch d[i] {
	case 'B', 'C', 'F', 'I', 'S', 'Z':
	case 'J', 'D':
		if i == 0 {
			return 2, 1
		}
	case 'L':
		for j := i + 1; j < len(d); j++ {
			if d[j] == ';' {
				if j == i+1 {
					return 0, 0
				}
				return 1, j + 1
			}
		}
		return 0, 0
	default:
		return 0, 0
	}
	return 1, i + 1
}

// methodSlots returns the slots of the arguments (without `this`) and of the
// result (0 for void) of a method descriptor.
func methodSlots(d string) (args, result int, ok bool) {
	if len(d) < 3 || d[0] != '(' {
		return 0, 0, false
	}
	i := 1
	for i < len(d) && d[i] != ')' {
		slots, n := fieldType(d[i:])
		if n == 0 {
			return 0, 0, false
		}
		args += slots
		i += n
	}
	if i >= len(d)-1 || args > maxArgSlots {
		return 0, 0, false
	}
	ret := d[i+1:]
	if ret == "V" {
		return args, 0, true
	}
	slots, n := fieldType(ret)
	return args, slots, n == len(ret)
}

func validMethodDescriptor(d string) bool {
	_, _, ok := methodSlots(d)
	return ok
}

// countArguments returns the number of arguments of a valid method descriptor.
func countArguments(d string) (n int) {
	for i := 1; d[i] != ')'; n++ {
		_, length := fieldType(d[i:])
		i += length
	}
	return n
}

// argumentTypes appends the verification types of the arguments of a valid
// method descriptor, one entry each, and gives the descriptor of the result.
func argumentTypes(args []VerificationType, d string) (all []VerificationType, result string) {
	i := 1
	for d[i] != ')' {
		_, n := fieldType(d[i:])
		args = append(args, descriptorType(d[i:i+n]))
		i += n
	}
	return args, d[i+1:]
}

// descriptorType returns the verification type of a valid field descriptor.
func descriptorType(d string) VerificationType {
	switch d[0] {
	case 'F':
		return VerificationType{Tag: TypeFloat}
	case 'J':
		return VerificationType{Tag: TypeLong}
	case 'D':
		return VerificationType{Tag: TypeDouble}
	case 'L':
		return ObjectType(d[1 : len(d)-1])
	case '[':
		return ObjectType(d)
	}
	return VerificationType{Tag: TypeInteger}
}
