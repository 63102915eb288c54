package rollup

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Level says how much rows sum up. Compacted files have one; files of one session are on level Detail.
type Level string

// The levels.
const (
	Detail   Level = "detail"   // five minutes
	Day      Level = "day"      // a day, of all instances
	Instance Level = "instance" // a day of an instance, all its classes, executors and sites together
)

// Levels are all of them.
var Levels = []Level{Detail, Day, Instance}

// valid reports whether a level is one of ours.
func (l Level) valid() bool { return l == Detail || l == Day || l == Instance }

const (
	freshPrefix    = objectstore.RollupsPrefix + "fresh/"
	manifestPrefix = objectstore.RollupsPrefix + "manifests/"
	parquetSuffix  = ".parquet"
	jsonSuffix     = ".json"
	datePrefix     = "date="
	servicePrefix  = "service="
)

func levelPrefix(l Level) string { return objectstore.RollupsPrefix + string(l) + "/" }

// partition is the part of keys that says of which day and service an object is: date=2026-03-01/service=orders/. The
// name of the service is that of keys, see objectstore.SafeName.
type partition struct{ date, service string }

func (p partition) String() string {
	return datePrefix + p.date + "/" + servicePrefix + p.service + "/"
}

// errForeign is a file with rows of another day or service than its key says.
var errForeign = errors.New("it has rows that belong elsewhere")

// check refuses rows of others: whoever may write one service's roll-ups must not write another's.
func (p partition) check(rows []Row) error {
	for i := range rows {
		if err := p.checkRow(&rows[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p partition) checkRow(r *Row) error {
	if r.Service == p.service && p.service != objectstore.UnknownService || objectstore.SafeName(r.Service) == p.service {
		if from := p.day().UnixNano(); from <= r.WindowUnixNs && r.WindowUnixNs < from+int64(24*time.Hour) {
			return nil
		}
	}
	return fmt.Errorf("%w: of service %.40q at %s", errForeign, r.Service, time.Unix(0, r.WindowUnixNs).UTC().Format(time.RFC3339))
}

// day is when the partition's day begins.
func (p partition) day() time.Time {
	t, _ := time.Parse(time.DateOnly, p.date) // parsePartition has checked it
	return t
}

// freshFile is a file of one session, as its key describes it.
type freshFile struct {
	partition
	folder string
	rng    store.Range
	object objectstore.Object
}

// freshKey is where the rows of a day of a range of batches belong.
func freshKey(day time.Time, service, folder string, r store.Range) string {
	return fmt.Sprintf("%s%s%s.%d-%d%s", freshPrefix, objectstore.Partition(day, service), objectstore.SafeName(folder), r.From, r.To, parquetSuffix)
}

func manifestKey(p partition, number int) string {
	return fmt.Sprintf("%s%v%08d%s", manifestPrefix, p, number, jsonSuffix)
}

var (
	servicePattern  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,160}$`)
	freshPattern    = regexp.MustCompile(`^([A-Za-z0-9._-]{1,160})\.([0-9]{1,19})-([0-9]{1,19})\.parquet$`)
	manifestPattern = regexp.MustCompile(`^([0-9]{8})\.json$`)
	dataPattern     = regexp.MustCompile(`^[0-9]{8}-[0-9a-f]{16}-[0-9]{4}\.parquet$`)
)

// parsePartition splits a key below a prefix into its partition and its name. Whoever can write into the store chooses
// keys; those that are not exactly as ours are no part of it.
func parsePartition(key, prefix string) (p partition, name string, ok bool) {
	rest, found := strings.CutPrefix(key, prefix)
	parts := strings.Split(rest, "/")
	if !found || len(parts) != 3 {
		return p, "", false
	}
	var a, b bool
	p.date, a = strings.CutPrefix(parts[0], datePrefix)
	p.service, b = strings.CutPrefix(parts[1], servicePrefix)
	if _, err := time.Parse(time.DateOnly, p.date); err != nil || !a || !b || !servicePattern.MatchString(p.service) {
		return p, "", false
	}
	return p, parts[2], true
}

func parseFresh(o objectstore.Object) (f freshFile, ok bool) {
	p, name, ok := parsePartition(o.Key, freshPrefix)
	m := freshPattern.FindStringSubmatch(name)
	if !ok || m == nil {
		return f, false
	}
	from, err1 := strconv.ParseUint(m[2], 10, 64)
	to, err2 := strconv.ParseUint(m[3], 10, 64)
	if err1 != nil || err2 != nil || from < 1 || to < from || to > store.MaxSeq {
		return f, false
	}
	return freshFile{p, m[1], store.Range{From: from, To: to}, o}, true
}

func parseManifestKey(key string) (p partition, number int, ok bool) {
	p, name, ok := parsePartition(key, manifestPrefix)
	m := manifestPattern.FindStringSubmatch(name)
	if !ok || m == nil {
		return p, 0, false
	}
	number, _ = strconv.Atoi(m[1])
	return p, number, number > 0
}

// datePrefixes are the beginnings of keys, behind the prefix of their kind, that a range of days may have: few of them,
// and few keys of other days behind them. The zero times are no bounds.
func datePrefixes(from, to time.Time) []string {
	if from.IsZero() || to.IsZero() {
		return []string{""}
	}
	from, last := startOfDay(from), startOfDay(to.Add(-1))
	const someDays, someMonths = 31, 120
	layout, next := time.DateOnly, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }
	if days := last.Sub(from) / (24 * time.Hour); days > someMonths*someDays {
		return []string{""}
	} else if days > someDays {
		layout, next = "2006-01-", func(t time.Time) time.Time { return time.Date(t.Year(), t.Month()+1, 1, 0, 0, 0, 0, time.UTC) }
	}
	var list []string
	for t := from; !t.After(last); t = next(t) {
		list = append(list, datePrefix+t.Format(layout))
	}
	return list
}

func startOfDay(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
