package iceberg

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
)

// avro encodes values as Apache Avro 1.11 does; what they are is for the schema of the file to say.
type avro []byte

func (a *avro) long(v int64)  { *a = binary.AppendVarint(*a, v) }
func (a *avro) some(v int64)  { a.long(1); a.long(v) } // of a union of null and a number
func (a *avro) text(s string) { a.long(int64(len(s))); *a = append(*a, s...) }

// avroFile is a file of n records in one block, without compression.
func avroFile(schema string, meta map[string]string, n int, records avro) []byte {
	file := avro("Obj\x01")
	keys := []string{"avro.schema", "avro.codec"}
	values := map[string]string{"avro.schema": compact(schema), "avro.codec": "null"}
	for k, v := range meta {
		keys, values[k] = append(keys, k), v
	}
	slices.Sort(keys)
	file.long(int64(len(keys)))
	for _, k := range keys {
		file.text(k)
		file.text(values[k])
	}
	file.long(0)
	sum := sha256.Sum256(records) // any 16 bytes that hardly occur elsewhere
	sync := sum[:16]
	file = append(file, sync...)
	if n > 0 {
		file.long(int64(n))
		file.text(string(records))
		file = append(file, sync...)
	}
	return file
}

// compact takes the spaces out of a schema.
func compact(schema string) string {
	var b strings.Builder
	var v json.RawMessage = []byte(schema)
	_ = json.NewEncoder(&b).Encode(v) // the schemas are constants
	return strings.TrimSpace(b.String())
}

// The schemas of Iceberg's manifests, version 2, without the optional fields that are not written.
const (
	manifestSchema = `{"type": "record", "name": "manifest_entry", "fields": [
  {"name": "status", "type": "int", "field-id": 0},
  {"name": "snapshot_id", "type": ["null", "long"], "default": null, "field-id": 1},
  {"name": "sequence_number", "type": ["null", "long"], "default": null, "field-id": 3},
  {"name": "file_sequence_number", "type": ["null", "long"], "default": null, "field-id": 4},
  {"name": "data_file", "field-id": 2, "type": {"type": "record", "name": "r2", "fields": [
    {"name": "content", "type": "int", "field-id": 134},
    {"name": "file_path", "type": "string", "field-id": 100},
    {"name": "file_format", "type": "string", "field-id": 101},
    {"name": "partition", "field-id": 102, "type": {"type": "record", "name": "r102", "fields": [
      {"name": "window_start_day", "type": ["null", {"type": "int", "logicalType": "date"}], "default": null, "field-id": 1000},
      {"name": "service_name", "type": ["null", "string"], "default": null, "field-id": 1001}]}},
    {"name": "record_count", "type": "long", "field-id": 103},
    {"name": "file_size_in_bytes", "type": "long", "field-id": 104}]}}]}`

	listSchema = `{"type": "record", "name": "manifest_file", "fields": [
  {"name": "manifest_path", "type": "string", "field-id": 500},
  {"name": "manifest_length", "type": "long", "field-id": 501},
  {"name": "partition_spec_id", "type": "int", "field-id": 502},
  {"name": "content", "type": "int", "field-id": 517},
  {"name": "sequence_number", "type": "long", "field-id": 515},
  {"name": "min_sequence_number", "type": "long", "field-id": 516},
  {"name": "added_snapshot_id", "type": "long", "field-id": 503},
  {"name": "added_files_count", "type": "int", "field-id": 504},
  {"name": "existing_files_count", "type": "int", "field-id": 505},
  {"name": "deleted_files_count", "type": "int", "field-id": 506},
  {"name": "added_rows_count", "type": "long", "field-id": 512},
  {"name": "existing_rows_count", "type": "long", "field-id": 513},
  {"name": "deleted_rows_count", "type": "long", "field-id": 514}]}`
)
