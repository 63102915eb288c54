package store

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"stackagent/internal/bounded"
	"stackagent/internal/sessionfs"
)

// besideFiles are files in a session's folder that a run writes when it is over,
// and seals; see SealBeside. sampleFiles are those of an imported trace; an
// export may write files of these names anywhere.
var (
	besideFiles = []string{"counters.json", "usage.json", "markers.json", "deopts.json", "jfr.json"}
	sampleFiles = []string{"cs.csv", "cpu.csv"}
)

// recordName is the file that describes the scheduling record.
const recordName = besideFolder + "/record.json"

// samplesName is the file that describes the samples of monitors.
const samplesName = samplesFolder + "/record.json"

// BesideFiles are the files of a session, by their names in its folder, that
// others than the store write.
func BesideFiles() []string {
	return slices.Concat(besideFiles, sampleFiles, []string{recordName, samplesName})
}

// checkBeside looks for files that are not the session's. A scheduling record
// may be begun when a short session has ended already.
func (f *Folder) checkBeside(m *Manifest) {
	if m.Ended == EndedRunning {
		return
	}
	for _, name := range besideFiles {
		if _, listed := m.Files[name]; listed {
			continue
		}
		if _, err := sessionfs.Lstat(filepath.Join(f.Dir, name)); err == nil && !f.vouched(m, name) {
			f.Damage = append(f.Damage, fmt.Errorf("%s: %w: the manifest does not name it", filepath.Join(f.Dir, name), errForeign))
		}
	}
	f.checkObserved(m)
	if m.SchedulingRecord == "" {
		return
	}
	path := filepath.Join(f.Dir, recordName)
	switch id := recordID(f.Dir); {
	case id == m.SchedulingRecord || f.vouched(m, recordName):
	case m.Files[recordName].SHA256 != "": // reported already
	case id == "":
		f.Damage = append(f.Damage, fmt.Errorf("%s: it is missing or damaged", path))
	default:
		f.Damage = append(f.Damage, fmt.Errorf("%s: %w", path, errForeign))
	}
}

const maxRecordBytes = 64 << 20

// recordID reads the id of the scheduling record; "" where there is none.
func recordID(dir string) string {
	file, err := sessionfs.Open(filepath.Join(dir, recordName))
	data, err := bounded.All(file, maxRecordBytes, err)
	var head struct {
		ID string `json:"id"`
	}
	if err != nil || json.Unmarshal(data, &head) != nil {
		return ""
	}
	return head.ID
}
