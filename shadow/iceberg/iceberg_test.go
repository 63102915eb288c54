package iceberg

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/objects"
	"stackagent/shadow/rollup"
)

var day = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// putFresh puts a file of one session under the name of a service.
func putFresh(t *testing.T, s objects.Store, service, session string, rows ...rollup.Row) {
	t.Helper()
	var b bytes.Buffer
	if err := rollup.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	key := "rollups/fresh/" + objects.Partition(day, service) + session + ".20260301-0123456789ab.1-9.parquet"
	if err := s.Put(context.Background(), key, bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
		t.Fatal(err)
	}
}

func rowOf(service string, at time.Time) rollup.Row {
	return rollup.Row{WindowUnixNs: at.UnixNano(), Service: service, Class: "com.acme.Job", Metric: rollup.Executions, Count: 7}
}

// decoded reads an Avro file as Iceberg's: its metadata, and the numbers and strings of its records, one after another.
type decoded struct {
	meta    map[string]string
	records int64
	*bytes.Reader
}

func (d *decoded) long() int64 {
	n, err := binary.ReadVarint(d)
	if err != nil {
		panic(err)
	}
	return n
}

func (d *decoded) text() string {
	b := make([]byte, d.long())
	if _, err := io.ReadFull(d, b); err != nil {
		panic(err)
	}
	return string(b)
}

func decode(t *testing.T, path string) *decoded {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data[:4]) != "Obj\x01" {
		t.Fatalf("%s: %v, %.4q", path, err, data)
	}
	d := &decoded{map[string]string{}, 0, bytes.NewReader(data[4:])}
	for n := d.long(); n != 0; n = d.long() {
		for range n {
			k := d.text()
			d.meta[k] = d.text()
		}
	}
	if !json.Valid([]byte(d.meta["avro.schema"])) {
		t.Errorf("the schema of %s: %s", path, d.meta["avro.schema"])
	}
	sync := make([]byte, 16)
	_, _ = io.ReadFull(d, sync)
	if d.Len() > 0 {
		d.records = d.long()
		block := d.text()
		if rest, _ := io.ReadAll(d); !bytes.Equal(rest, sync) {
			t.Errorf("%s ends with %x, want %x", path, rest, sync)
		}
		d.Reader = bytes.NewReader([]byte(block))
	}
	return d
}

func TestTable(t *testing.T) {
	dir := t.TempDir()
	s, err := objects.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	write := func(now time.Time) *Table {
		t.Helper()
		x, err := Write(t.Context(), s, dir, "rollups", rollup.Detail, now)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	now := time.Now()
	if x := write(now); x.Files != 0 || !strings.HasSuffix(x.Metadata, "/iceberg/rollups/metadata/v1.metadata.json") {
		t.Errorf("of an empty store: %+v", x)
	}
	noon := day.Add(12 * time.Hour)
	putFresh(t, s, "orders", "one", rowOf("orders", noon), rowOf("orders", noon.Add(time.Hour)))
	putFresh(t, s, "ordres à la carte", "two", rowOf("ordres à la carte", noon))
	putFresh(t, s, "", "three", rowOf("", noon))
	putFresh(t, s, "orders", "forged", rowOf("orders", noon), rowOf("billing", noon))
	putFresh(t, s, "orders", "late", rowOf("orders", noon.AddDate(0, 0, 1)))
	putFresh(t, s, "orders", "empty")
	x := write(now)
	if x.Files != 3 || x.Rows != 4 || len(x.Missing) != 2 || !strings.Contains(fmt.Sprint(x.Missing), "forged") || !strings.Contains(fmt.Sprint(x.Missing), "late") {
		t.Errorf("%+v", x)
	}

	var meta struct {
		Location string
		Current  int64 `json:"current-snapshot-id"`
		Schemas  []struct{ Fields []struct{ Name string } }
		Snapshot []struct {
			ID       int64  `json:"snapshot-id"`
			Sequence int64  `json:"sequence-number"`
			List     string `json:"manifest-list"`
		} `json:"snapshots"`
		Properties map[string]string
	}
	data, err := os.ReadFile(x.Metadata)
	if err != nil || json.Unmarshal(data, &meta) != nil || len(meta.Snapshot) != 1 || meta.Snapshot[0].ID != meta.Current || meta.Snapshot[0].Sequence != 2 {
		t.Fatalf("%v: %s", err, data)
	}
	if meta.Location != dir+"/iceberg/rollups" || len(meta.Schemas) != 1 || len(meta.Schemas[0].Fields) != len(rollup.FileColumns()) {
		t.Errorf("%+v", meta)
	}
	list := decode(t, meta.Snapshot[0].List)
	manifest := list.text()
	if info, err := os.Stat(manifest); err != nil || list.records != 1 || list.long() != info.Size() {
		t.Errorf("the list names %s: %v", manifest, err)
	}
	files := decode(t, manifest)
	if files.records != 3 || files.meta["format-version"] != "2" {
		t.Errorf("%d files, %v", files.records, files.meta)
	}
	services := ""
	for range files.records {
		var before [8]int64 // status, snapshot, both sequence numbers and content
		for i := range before {
			before[i] = files.long()
		}
		path, format := files.text(), files.text()
		branch, date, _, service, rows, size := files.long(), files.long(), files.long(), files.text(), files.long(), files.long()
		services += fmt.Sprintf("%q %d ", service, rows)
		if info, err := os.Stat(path); err != nil || info.Size() != size || format != "PARQUET" || branch != 1 || date != day.Unix()/86400 || before[2] != meta.Current {
			t.Errorf("%s of %s and day %d, %d bytes: %v, %v", path, service, date, size, err, before)
		}
	}
	if want := `"orders" 2 "ordres à la carte" 1 "" 1 `; services != want {
		t.Errorf("%s, want %s", services, want)
	}

	// Whoever wrote a version first keeps it, and what was replaced goes after a day.
	if err := os.WriteFile(filepath.Join(dir, "iceberg/rollups/metadata/v3.metadata.json"), []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if x := write(now); !strings.HasSuffix(x.Metadata, "/v4.metadata.json") {
		t.Errorf("%s beside v3", x.Metadata)
	}
	if x := write(now.Add(keep + time.Hour)); !strings.HasSuffix(x.Metadata, "/v5.metadata.json") {
		t.Errorf("%s after a day", x.Metadata)
	}
	left, err := os.ReadDir(filepath.Join(dir, "iceberg/rollups/metadata"))
	if err != nil || len(left) != 4 {
		t.Errorf("%v %v, want one version, its two lists and the hint", left, err)
	}
}

// Two writers that look at the same time have a version each.
func TestContested(t *testing.T) {
	dir := t.TempDir()
	s, err := objects.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Write(t.Context(), &contested{Store: s, left: 2}, dir, "rollups", rollup.Detail, time.Now())
	if err != nil || !strings.HasSuffix(x.Metadata, "/v3.metadata.json") {
		t.Errorf("%+v, %v", x, err)
	}
}

// contested is a store in which somebody else is faster.
type contested struct {
	objects.Store
	left int
}

func (c *contested) PutIfAbsent(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	if c.left--; c.left >= 0 {
		if err := c.Put(ctx, key, strings.NewReader("{}"), 2); err != nil {
			return err
		}
	}
	return c.Store.PutIfAbsent(ctx, key, content, size)
}
