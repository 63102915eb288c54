package sched

// NoSource is the Record.Source of a session whose threads could not be observed.
const NoSource = "none"

// NoRecord is the key in Record.NotAvailable of a record that Refuse wrote.
const NoRecord = "scheduling record"

// NoCauses is the key of why the JVM's own counters could not be read.
const NoCauses = "causes of collections"

// Refuse writes into the folder dir, usually Folder of a session's, a record
// that says only why there is none.
func Refuse(dir string, pid int, why error) error {
	w, err := Create(dir, Record{Source: NoSource, PID: pid, NotAvailable: map[string]string{NoRecord: why.Error()}})
	if err != nil {
		return err
	}
	return w.Close(nil)
}
