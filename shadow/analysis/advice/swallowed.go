package advice

// Swallowed are exceptions that only a future saw.
type Swallowed struct {
	Site    string `json:"site,omitempty"`
	Unasked int64  `json:"unasked"` // nobody asked the future
	Unknown int64  `json:"unknown"` // unknown whether anybody asked
	Unended bool   `json:"unended,omitempty"`
}

func swallowed(s *search) []Finding {
	if s.Units == nil {
		return nil
	}
	var out []Finding
	for i := range s.Units.Classes {
		c := &s.Units.Classes[i]
		if c.Swallowed+c.Kept >= max(1, s.t.SwallowedUnits) {
			out = append(out, Finding{Class: c.Name, Evidence: &Swallowed{c.Site, c.Swallowed, c.Kept, s.Units.Unended}})
		}
	}
	return out
}
