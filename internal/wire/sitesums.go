package wire

// SiteKind says what a SiteSum counts.
type SiteKind uint8

// The kinds; equal to SA_SITE_*. The sum over the first and SitePart is
// Summary.Creations, over SiteSubmission and SiteInner Summary.Submissions, over
// the last two Summary.Rejected; but for what found no room.
const (
	SiteCreation      SiteKind = iota
	SiteSubmission             // by the program
	SitePart                   // creation without a call site, inside an execution of a task of the same class
	SiteInner                  // submission inside another
	SiteRejected               // takes back one by the program
	SiteRejectedInner          // takes back an inner one
	NumSiteKinds
)
