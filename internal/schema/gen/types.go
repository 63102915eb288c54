package main

import (
	"cmp"
	"fmt"
	"strings"

	"stackagent/internal/schema"
)

// integer is what the generator knows of an integer type.
type integer struct {
	bits   int
	signed bool
}

// integers are the integer types that a declaration may name. Flags have 16 bits.
var integers = map[string]integer{
	"uint8": {8, false}, "uint16": {16, false}, "uint32": {32, false}, "uint64": {64, false},
	"int8": {8, true}, "int16": {16, true}, "int32": {32, true}, "int64": {64, true},
	"units.Ticks": {64, false}, "units.Ns": {64, true}, "units.MonoNs": {64, true},
	"units.Kinds":   {8, false}, // the bits that travel
	"units.GCCause": {32, false},
}

// integerOf is the integer type of that name.
func integerOf(t string) (integer, bool) {
	if strings.HasSuffix(t, "Flags") {
		return integer{16, false}, true
	}
	for _, k := range schema.KindSets {
		if k.Name == t {
			return integer{8, false}, true
		}
	}
	i, ok := integers[t]
	return i, ok
}

// holds reports whether i holds all values of j.
func (i integer) holds(j integer) bool {
	return i.signed == j.signed && i.bits >= j.bits || i.signed && i.bits > j.bits
}

// cTypes are the C types of fields in the ring.
var cTypes = map[string]integer{
	"uint8_t": {8, false}, "uint16_t": {16, false}, "uint32_t": {32, false}, "uint64_t": {64, false},
	"int8_t": {8, true}, "int16_t": {16, true}, "int32_t": {32, true}, "int64_t": {64, true},
}

// rowTypes are the integer types of rows; ticks, flags and kinds are converted.
const rowTypes = "int8..int64, uint8..uint64, units.Ns or units.MonoNs"

// check refuses a declaration that the generator has no code for, and says what to declare instead.
func check(records []*schema.Record) error {
	for _, r := range records {
		if err := checkSlots(r); err != nil {
			return err
		}
		for _, f := range r.Fields {
			name := cmp.Or(f.Name, f.Row.Name)
			if err := checkWire(r, f); err != nil {
				return fmt.Errorf("%s.%s: %w", r.Name, name, err)
			}
		}
		if r.Table.Name == "" {
			continue
		}
		for _, f := range rowFields(r) {
			if err := checkRow(r, f); err != nil {
				return fmt.Errorf("%s.%s: the row: %w", r.Name, f.Row.Name, err)
			}
		}
	}
	return nil
}

// checkSlots refuses fields that the ring has no place for.
func checkSlots(r *schema.Record) error {
	end, before := 1, "the type" // the first byte
	for _, f := range slots(r) {
		c, ok := cTypes[f.Ring.Type]
		if !ok {
			return fmt.Errorf("%s.%s: the ring has no %s: use uint8_t..uint64_t or int8_t..int64_t", r.Name, f.Name, f.Ring.Type)
		}
		size := c.bits / 8
		t, ok := integerOf(f.Type)
		switch {
		case !ok:
			return fmt.Errorf("%s.%s: the ring holds no %s: use an integer, for a bool a bit of the flags", r.Name, f.Name, f.Type)
		case t.bits < c.bits:
			return fmt.Errorf("%s.%s: %s does not hold a %s: use %s", r.Name, f.Name, f.Type, f.Ring.Type, strings.TrimSuffix(f.Ring.Type, "_t"))
		case f.Ring.At < end:
			return fmt.Errorf("%s.%s: byte %d of the ring belongs to %s: the next free one is %d", r.Name, f.Name, f.Ring.At, before, end)
		case f.Ring.At%size != 0:
			return fmt.Errorf("%s.%s: a %s at byte %d of the ring is not aligned: use byte %d", r.Name, f.Name, f.Ring.Type, f.Ring.At, (f.Ring.At+size-1)/size*size)
		}
		end, before = f.Ring.At+size, f.Name
	}
	if most := r.Ring.Slots * schema.SlotBytes; end > most && r.Ring.Struct != "" {
		return fmt.Errorf("%s.%s ends at byte %d of the ring, behind its %d: use a free byte before, or more Slots", r.Name, before, end, most)
	}
	return nil
}

// firstColumns is the highest number of the columns that every payload may have, by its first version.
const firstColumns = 14

// checkWire refuses what the coding of the record cannot carry.
func checkWire(r *schema.Record, f schema.Field) error {
	if f.Name == "" || f.Wire.Number < 0 || r.Wire.Coding == schema.NotSent {
		return nil
	}
	t, isInteger := integerOf(f.Type)
	switch {
	case f.Type == "float64":
		return fmt.Errorf("float64 does not travel: use an integer in the smallest unit, such as units.Ns")
	case r.Wire.Coding == schema.List:
		if _, ok := msgTypes[f.Type]; !ok && !isInteger {
			return fmt.Errorf("a list carries no %s: use an integer, bool, string or []uint32", f.Type)
		}
	case r.Wire.Coding == schema.Columnar && f.Wire.Number >= schema.ExtraColumns:
		return fmt.Errorf("number %d belongs to the extra metrics: use the highest below %d plus one", f.Wire.Number, schema.ExtraColumns)
	case r.Wire.Coding == schema.Columnar && f.Wire.Number > firstColumns && !f.Wire.LeftOut:
		return fmt.Errorf("column %d of a payload is not in the batches of older agents: set LeftOut in Wire", f.Wire.Number)
	case r.Wire.Coding != schema.List && !isInteger:
		return fmt.Errorf("a payload carries no %s: use an integer; for a bool a bit of the flags, for a string the number of a record in a list", f.Type)
	case r.Wire.Coding == schema.Entries && t.signed && t.bits < 64:
		return fmt.Errorf("an entry carries no %s: use int64 or an unsigned type", f.Type)
	}
	return nil
}

// checkRow refuses what a table cannot hold, or a value that loses its meaning on the way into it.
func checkRow(r *schema.Record, f schema.Field) error {
	t := strings.TrimPrefix(f.Row.Type, "*")
	row, isInteger := integers[t]
	isInteger = isInteger && t != "units.Ticks" && t != "units.Kinds"
	pointer := t != f.Row.Type
	switch {
	case r.Table.Big && (!isInteger || pointer):
		return fmt.Errorf("a big table holds no %s: use %s; for a bool a bit of the flags", f.Row.Type, rowTypes)
	case r.Table.Big && f.Wire.Number > firstColumns && !f.Row.LeftOut:
		return fmt.Errorf("older sessions do not have the column: set LeftOut in Row, and say in Null what a missing value means")
	case r.Table.Big && f.Row.LeftOut && f.Row.Null == "":
		return fmt.Errorf("a column that may be left out needs Null: what a missing value means")
	case r.Table.Big && f.Row.Null != "" && t == "int64":
		return fmt.Errorf("an int64 has no value for null: use units.Ns, or another type whose 0 is null")
	case !isInteger && t != "string" && t != "bool" && t != "float64" && t != "[]uint32":
		return fmt.Errorf("it holds no %s: use %s, bool, string, float64 or []uint32, and From to convert", t, rowTypes)
	case (f.Row.Value != "") != (f.Row.FieldDoc != ""):
		return fmt.Errorf("its Value makes a column that is not the field: say in FieldDoc, and only then, what the field is")
	case !r.Table.Big && (f.Row.Null != "") != pointer:
		return fmt.Errorf("a value of a small table may be null if, and only if, its type is a pointer: *%s", t)
	}
	return checkConversion(f, t, pointer, row, isInteger)
}

// checkConversion refuses a row that the conversion cannot fill.
func checkConversion(f schema.Field, t string, pointer bool, row integer, isInteger bool) error {
	if f.Name == "" {
		return nil
	}
	from, fromInteger := integerOf(f.Type)
	switch f.Row.From {
	case schema.Copy:
		if pointer || isInteger != fromInteger || isInteger && !row.holds(from) || !isInteger && t != f.Type {
			return fmt.Errorf("a %s cannot be copied into %s: use a type that holds all its values, or another From", f.Type, f.Row.Type)
		}
	case schema.Moment, schema.Span:
		if f.Type != "units.Ticks" || pointer || !row.signed || row.bits < 64 {
			return fmt.Errorf("ticks become int64, units.Ns or units.MonoNs, not %s from %s", f.Row.Type, f.Type)
		}
	case schema.Nullable:
		if f.Type != "units.Ns" || f.Row.Type != "*int64" {
			return fmt.Errorf("a nullable units.Ns becomes *int64, not %s from %s", f.Row.Type, f.Type)
		}
	case schema.Text:
		if t != "string" {
			return fmt.Errorf("a text becomes string, not %s", f.Row.Type)
		}
	}
	return nil
}
