package options

import (
	"path/filepath"
	"strconv"
	"strings"
)

// SpoolOff is the value of spool= for no spool file.
const SpoolOff = "off"

// setSpool takes a folder or "off".
func setSpool(o *Options, value string) string {
	if value != SpoolOff && (!filepath.IsAbs(value) || strings.ContainsRune(value, 0)) {
		return "want the path of a folder, from /, or off"
	}
	o.Spool = value
	return ""
}

// size takes a number of bytes, with K, M or G in binary steps.
func size(field func(*Options) *int64, least, most int64, want string) setter {
	return func(o *Options, value string) string {
		number, shift := value, 0
		for unit, bits := range map[string]int{"K": 10, "M": 20, "G": 30} {
			if n, ok := strings.CutSuffix(strings.ToUpper(value), unit); ok {
				number, shift = n, bits
			}
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 0 || n > most>>shift || n<<shift < least {
			return want
		}
		*field(o) = n << shift
		return ""
	}
}
