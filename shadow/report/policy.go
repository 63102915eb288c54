package report

// Policy is the content security policy of a page, for the headers of a server. The
// page has it, too.
func Policy() string { return policy() }
