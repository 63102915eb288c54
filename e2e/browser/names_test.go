package browser_test

// What the tests look for. shadow/show/page/front/src/main.ts lists the same names.
const (
	ready     = `document.documentElement.dataset.state === "ready"`
	failed    = `document.documentElement.dataset.state === "failed"`
	sentence  = "#verdict .sentence"
	brush     = "#brush"
	clearing  = "#clear-window"
	classes   = "#table-class"
	executors = "#table-executor"
	classFind = `section[data-table="class"] input`
	search    = "#search"
	drill     = "#drill"
	slowest   = "#slowest"
	task      = "#task"
	theme     = "#theme"
	compare   = "#compare"

	// Of the live pages; shadow/show/page/front/src/livepage.ts lists them.
	connection  = "#connection"
	fleetRow    = "#fleet tr[data-session]"
	jvm         = "#jvm[data-folder]"
	liveClasses = "#classes"
	finding     = "#findings .finding"
	reportNow   = "#report-now"
	storedRow   = "#stored tr"
)

// rowsOf are the rows of a table in sight.
func rowsOf(table string) string { return table + " tbody tr[data-key]" }

// sorter is the head of a column.
func sorter(table, column string) string { return table + ` th button[data-sort="` + column + `"]` }

// chip is a filter that is on.
func chip(what string) string { return `#filters .chip[data-chip="` + what + `"]` }

// tabOf is the link to a view.
func tabOf(view string) string { return `nav a[data-view="` + view + `"]` }
