package instrument

import "encoding/binary"

// mentions is what a walk over the raw constant pool finds, without parsing the
// class.
type mentions struct {
	run, call, exec    bool // the name of an execution method
	runD, callD, execD bool // its descriptor; of call(), which may be covariant, one without parameters
	probes             bool // the class that holds the probes
}

// execution reports whether the class can declare or call an execution method.
func (m *mentions) execution() bool {
	return m.run && m.runD || m.call && m.callD || m.exec && m.execD
}

// constantSize is the size of a pool entry by its tag, tag byte included; 0:
// no such tag. Utf8 (1) has its length in it.
var constantSize = [21]uint8{3: 5, 4: 5, 5: 9, 6: 9, 7: 3, 8: 3, 9: 5, 10: 5, 11: 5,
	12: 5, 15: 4, 16: 3, 17: 5, 18: 5, 19: 3, 20: 3}

// scanPool walks the constant pool of a class file; false if it is malformed.
func scanPool(b []byte) (m mentions, ok bool) {
	if len(b) < 10 {
		return m, false
	}
	count, at := int(binary.BigEndian.Uint16(b[8:])), 10
	for i := 1; i < count; i++ {
		if at+3 > len(b) {
			return m, false
		}
		tag := b[at]
		if tag == 1 {
			n := int(binary.BigEndian.Uint16(b[at+1:]))
			if at+3+n > len(b) {
				return m, false
			}
			m.see(b[at+3 : at+3+n])
			at += 3 + n
			continue
		}
		if int(tag) >= len(constantSize) || constantSize[tag] == 0 {
			return m, false
		}
		at += int(constantSize[tag])
		if tag == 5 || tag == 6 { // long and double take two indices
			i++
		}
	}
	return m, at <= len(b)
}

func (m *mentions) see(utf8 []byte) {
	if len(utf8) > 3 && utf8[0] == '(' && utf8[1] == ')' && (utf8[2] == 'L' || utf8[2] == '[') {
		m.callD = true
		return
	}
	switch string(utf8) { // does not allocate
	case "run":
		m.run = true
	case "()V":
		m.runD = true
	case "call":
		m.call = true
	case "exec":
		m.exec = true
	case "()Z":
		m.execD = true
	case nameProbes, nameSubmissions, nameConstructions, nameWaits, nameMonitors, nameTraces:
		m.probes = true
	}
}
