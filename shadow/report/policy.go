package report

// Policy is the content security policy of a page, for a server that hands one
// out: the page carries the same itself.
func Policy() string { return policy() }
