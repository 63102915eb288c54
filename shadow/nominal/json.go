package nominal

import (
	"encoding/json"

	"stackagent/granularity/estimate"
	"stackagent/granularity/nominal"
)

// MarshalJSON writes a value and its place, or why there is none.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.Why != "" {
		return json.Marshal(map[string]string{"not_available": c.Why})
	}
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
		Runs  int      `json:"runs"`
		nominal.Place
	}{estimate.Number(c.Value.Mean), estimate.Number(c.Value.Low), estimate.Number(c.Value.High), c.Value.N, c.Place})
}

// component is a principal component in JSON, by code and by program.
type component struct {
	Explained float64            `json:"explained"`
	Loadings  map[string]float64 `json:"loadings"`
	Scores    map[string]float64 `json:"scores"`
}

// MarshalJSON writes the set as `shadow characterize --format json` prints it.
func (s *Set) MarshalJSON() ([]byte, error) {
	type row struct {
		Statistic
		Programs map[string]Cell `json:"programs"`
	}
	out := struct {
		Programs     []string          `json:"programs"`
		Statistics   []row             `json:"statistics"`
		Components   []component       `json:"components"`
		NotAvailable map[string]string `json:"not_available"`
	}{Programs: s.Programs, Components: []component{}, NotAvailable: map[string]string{}}
	for _, r := range s.Rows {
		cells := map[string]Cell{}
		for i, c := range r.Cells {
			cells[s.Programs[i]] = c
		}
		out.Statistics = append(out.Statistics, row{r.Statistic, cells})
	}
	if s.Components == nil {
		out.NotAvailable["components"] = s.NoComponents
		return json.Marshal(out)
	}
	for k, share := range s.Components.Explained {
		c := component{Explained: share, Loadings: map[string]float64{}, Scores: map[string]float64{}}
		for j, used := range s.Components.Used {
			c.Loadings[s.Rows[used].Code] = s.Components.Loadings[k][j]
		}
		for i, name := range s.Programs {
			c.Scores[name] = s.Components.Scores[i][k]
		}
		out.Components = append(out.Components, c)
	}
	return json.Marshal(out)
}
