package advice

// DeepNesting is a deep stack of executions.
type DeepNesting struct {
	Depth int64 `json:"depth"`
}

func deepNesting(s *search) *Finding {
	if s.Units == nil || s.Units.MaxDepth < s.t.Depth {
		return nil
	}
	return &Finding{Class: s.Units.Deepest, Evidence: &DeepNesting{s.Units.MaxDepth}}
}
