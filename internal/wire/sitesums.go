package wire

// SiteKind says what a SiteSum counts.
type SiteKind uint8

// The kinds; equal to SA_PLACE_*. The sum over the first and SitePart is
// Summary.Creations, over SiteSubmission and SiteInner Summary.Submissions, over
// the last two Summary.Rejected; but for what found no room.
const (
	SiteCreation      SiteKind = iota
	SiteSubmission             // by the program
	SitePart                   // creation without a place, inside an execution of a task of the same class
	SiteInner                  // submission inside another
	SiteRejected               // takes back one by the program
	SiteRejectedInner          // takes back an inner one
	NumSiteKinds
)

// SiteSum counts what summaries tell of a class and thread by the place where it
// happened: what was added since it was told before.
type SiteSum struct {
	Class, Thread uint32
	Flags         SummaryFlags
	Kind          SiteKind
	Site          uint32 // Site.ID, 0: not known
	Count         uint64
}

const siteSumFields = 6

func (w *writer) siteSum(x *SiteSum) {
	w.arrayLen(siteSumFields)
	w.uint(uint64(x.Class))
	w.uint(uint64(x.Thread))
	w.uint(uint64(x.Flags))
	w.uint(uint64(x.Kind))
	w.uint(uint64(x.Site))
	w.uint(x.Count)
}

func (r *reader) siteSum(field string) (x SiteSum) {
	end := r.fields(field, siteSumFields)
	x.Class = uint32(r.uintMax(field+".class", 1<<32-1))
	x.Thread = uint32(r.uintMax(field+".thread", 1<<32-1))
	x.Flags = SummaryFlags(r.uintMax(field+".flags", 1<<16-1))
	x.Kind = SiteKind(r.uintMax(field+".kind", 1<<8-1))
	x.Site = uint32(r.uintMax(field+".site", 1<<32-1))
	x.Count = r.uint(field + ".count")
	end()
	return x
}
