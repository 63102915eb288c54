// Package iceberg describes the roll-ups of a store as tables of Apache Iceberg, format version 2, so that catalogues
// and engines read them as tables. It writes metadata only: the tables consist of the files that are there.
package iceberg

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"stackagent/shadow/objects"
	"stackagent/shadow/rollup"
)

// Prefix begins the keys of tables.
const Prefix = "iceberg/"

// Tables are the names of the tables and what is in them.
var Tables = []struct {
	Name  string
	Level rollup.Level
}{{"rollups", rollup.Detail}, {"rollups_by_day", rollup.Day}}

// keep is how long metadata stays that newer metadata has replaced: readers may be using it.
const keep = 24 * time.Hour

// tries bounds how often a number is looked for that no other writer took.
const tries = 5

// Table is a table that was written.
type Table struct {
	Metadata string // where its metadata is, for catalogues
	Files    int
	Rows     int64
	Missing  []rollup.Missing // what should be in it, and is not
}

// Write writes the metadata of a table: of the files that count at the moment. root is where engines find the store: a
// folder's path or s3://BUCKET/PREFIX.
func Write(ctx context.Context, s objects.Store, root, name string, l rollup.Level, now time.Time) (*Table, error) {
	files, missing, err := rollup.LiveFiles(ctx, s, l)
	if err != nil {
		return nil, err
	}
	w := &writer{store: s, root: strings.TrimSuffix(root, "/") + "/", dir: Prefix + name + "/metadata/", files: files, now: now}
	t := &Table{Files: len(files), Missing: missing}
	for _, f := range files {
		t.Rows += f.Rows
	}
	for range tries {
		if t.Metadata, err = w.write(ctx, name, t); !errors.Is(err, objects.ErrExists) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("writing the Iceberg table %s: %w", name, err)
	}
	return t, nil
}

type writer struct {
	store     objects.Store
	root, dir string // of the store, for engines; of the metadata, in keys
	files     []rollup.LiveFile
	now       time.Time

	version  int64
	snapshot int64
	replaced []string // keys of metadata that nobody uses any more
}

func (w *writer) write(ctx context.Context, name string, t *Table) (location string, err error) {
	if err := w.look(ctx); err != nil {
		return "", err
	}
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails: crypto/rand ends the process instead
	w.snapshot = int64(binary.BigEndian.Uint64(id[:])>>1 | 1)
	mark := fmt.Sprintf("%05d-%x", w.version, id)
	manifest := w.manifest()
	manifestKey, listKey := w.dir+"files-"+mark+".avro", w.dir+"snap-"+mark+".avro"
	if err := w.put(ctx, manifestKey, manifest); err != nil {
		return "", err
	}
	if err := w.put(ctx, listKey, w.list(w.root+manifestKey, int64(len(manifest)), t)); err != nil {
		return "", err
	}
	data, err := json.Marshal(w.metadata(name, w.root+listKey, t))
	if err != nil {
		return "", err
	}
	key := fmt.Sprintf("%sv%d.metadata.json", w.dir, w.version)
	if err := w.store.PutIfAbsent(ctx, key, bytes.NewReader(data), int64(len(data))); err != nil {
		return "", fmt.Errorf("putting %s: %w", key, err)
	}
	if err := w.put(ctx, w.dir+"version-hint.text", strconv.AppendInt(nil, w.version, 10)); err != nil {
		return "", err
	}
	for _, key := range w.replaced {
		if err := w.store.Delete(ctx, key); err != nil {
			return "", fmt.Errorf("removing metadata that was replaced: %w", err)
		}
	}
	return w.root + key, nil
}

func (w *writer) put(ctx context.Context, key string, data []byte) error {
	if err := w.store.Put(ctx, key, bytes.NewReader(data), int64(len(data))); err != nil {
		return fmt.Errorf("putting %s: %w", key, err)
	}
	return nil
}

// look finds the next number, and what is old.
func (w *writer) look(ctx context.Context) error {
	w.version, w.replaced = 1, nil
	for o, err := range w.store.List(ctx, w.dir) {
		if err != nil {
			return fmt.Errorf("listing %s: %w", w.dir, err)
		}
		name := strings.TrimPrefix(o.Key, w.dir)
		if v, ok := strings.CutSuffix(name, ".metadata.json"); ok {
			if n, err := strconv.ParseInt(strings.TrimPrefix(v, "v"), 10, 32); err == nil {
				w.version = max(w.version, n+1)
			}
		}
		if w.now.Sub(o.Modified) > keep && name != "version-hint.text" {
			w.replaced = append(w.replaced, o.Key)
		}
	}
	return nil
}

// manifest lists the files.
func (w *writer) manifest() []byte {
	var a avro
	for _, f := range w.files {
		a.long(1) // added
		a.some(w.snapshot)
		a.some(w.version)
		a.some(w.version)
		a.long(0) // data
		a.text(w.root + f.Key)
		a.text("PARQUET")
		a.some(f.Day.Unix() / int64((24*time.Hour)/time.Second))
		a.long(1)
		a.text(f.Service)
		a.long(f.Rows)
		a.long(f.Bytes)
	}
	schema, _ := json.Marshal(tableSchema())
	fields, _ := json.Marshal(partitionFields())
	return avroFile(manifestSchema, map[string]string{"schema": string(schema), "schema-id": "0", "partition-spec": string(fields),
		"partition-spec-id": "0", "format-version": "2", "content": "data"}, len(w.files), a)
}

// list lists the one manifest.
func (w *writer) list(manifest string, bytes int64, t *Table) []byte {
	var a avro
	a.text(manifest)
	a.long(bytes)
	a.long(0) // partition spec
	a.long(0) // data
	a.long(w.version)
	a.long(w.version)
	a.long(w.snapshot)
	a.long(int64(t.Files))
	a.long(0)
	a.long(0)
	a.long(t.Rows)
	a.long(0)
	a.long(0)
	return avroFile(listSchema, map[string]string{"format-version": "2", "snapshot-id": strconv.FormatInt(w.snapshot, 10),
		"parent-snapshot-id": "null", "sequence-number": strconv.FormatInt(w.version, 10)}, 1, a)
}

// object is one of JSON.
type object map[string]any

func (w *writer) metadata(name, list string, t *Table) object {
	ms := w.now.UnixMilli()
	columns := tableSchema()["fields"].([]object)
	mapping, _ := json.Marshal(nameMapping(columns))
	uuid := sha256.Sum256([]byte(w.root + name))
	return object{
		"format-version": 2, "table-uuid": fmt.Sprintf("%x-%x-%x-%x-%x", uuid[:4], uuid[4:6], uuid[6:8], uuid[8:10], uuid[10:16]),
		"location": w.root + Prefix + name, "last-sequence-number": w.version, "last-updated-ms": ms, "last-column-id": 2 * len(columns),
		"current-schema-id": 0, "schemas": []object{tableSchema()},
		"default-spec-id": 0, "partition-specs": []object{{"spec-id": 0, "fields": partitionFields()}}, "last-partition-id": 1001,
		"default-sort-order-id": 0, "sort-orders": []object{{"order-id": 0, "fields": []object{}}},
		"properties":          object{"schema.name-mapping.default": string(mapping), "gc.enabled": "false"}, // the files are not the table's
		"current-snapshot-id": w.snapshot, "refs": object{"main": object{"snapshot-id": w.snapshot, "type": "branch"}},
		"snapshots": []object{{"snapshot-id": w.snapshot, "sequence-number": w.version, "timestamp-ms": ms, "manifest-list": list, "schema-id": 0,
			"summary": object{"operation": "overwrite", "total-data-files": strconv.Itoa(t.Files), "total-records": strconv.FormatInt(t.Rows, 10)}}},
		"snapshot-log": []object{{"snapshot-id": w.snapshot, "timestamp-ms": ms}}, "metadata-log": []object{},
	}
}

// tableSchema has the columns of files; elements of lists have ids behind them.
func tableSchema() object {
	var fields []object
	columns := rollup.FileColumns()
	for i, c := range columns {
		var of any = map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int32: "int", reflect.Int64: "long"}[c.Kind]
		if c.Time {
			of = "timestamptz"
		}
		if c.List {
			of = object{"type": "list", "element-id": len(columns) + i + 1, "element": of, "element-required": false}
		}
		fields = append(fields, object{"id": i + 1, "name": c.Name, "required": false, "type": of})
	}
	return object{"type": "struct", "schema-id": 0, "fields": fields}
}

// partitionFields are what files are chosen by: all rows of one have the same.
func partitionFields() []object {
	var fields []object
	for i, c := range rollup.FileColumns() {
		switch c.Name {
		case "window_start":
			fields = append(fields, object{"name": "window_start_day", "transform": "day", "source-id": i + 1, "field-id": 1000})
		case "service_name":
			fields = append(fields, object{"name": "service_name", "transform": "identity", "source-id": i + 1, "field-id": 1001})
		}
	}
	return fields
}

// nameMapping says which column of a file is which of the table: the files have no ids.
func nameMapping(columns []object) []object {
	var list []object
	for _, c := range columns {
		m := object{"field-id": c["id"], "names": []any{c["name"]}}
		if l, ok := c["type"].(object); ok {
			m["fields"] = []object{{"field-id": l["element-id"], "names": []string{"element"}}}
		}
		list = append(list, m)
	}
	return list
}
