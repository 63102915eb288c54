package sched

// NoSource is the Record.Source of a session whose threads could not be observed.
const NoSource = "none"

// NoRecord is the key in Record.NotAvailable of a record that Refuse wrote.
const NoRecord = "scheduling record"

// NoCauses is the key of why the JVM's own counters could not be read.
const NoCauses = "causes of collections"

// Unsaved is the key of why parts of the record are missing; a later part holds it.
const Unsaved = "parts of the scheduling record"

// NoNumbers is the key of why threads cannot be matched with their Java names.
const NoNumbers = "Java names of threads"

// Refuse writes into the folder dir, usually Folder of a session's, a record
// that says only why there is none. It leaves an existing record alone: what was
// observed stays valid even if this shadow cannot continue it.
func Refuse(dir string, pid int, why error) error {
	if _, err := readHead(dir); err == nil {
		return nil
	}
	w, err := Create(dir, Record{Source: NoSource, PID: pid, NotAvailable: map[string]string{NoRecord: why.Error()}})
	if err != nil {
		return err
	}
	return w.Close(nil)
}
