package characterize

import (
	"encoding/json"

	"stackagent/granularity/estimate"
	"stackagent/granularity/nominal"
)

// cellJSON is a Cell in JSON: either why there is no value, or all the others.
type cellJSON struct {
	NotAvailable string `json:"not_available,omitempty"` // why there is no value
	*valueJSON
}

// valueJSON is a value and its place.
type valueJSON struct {
	Value *float64 `json:"value"` // mean over the runs
	Low   *float64 `json:"low"`   // of the 95 % interval; null: a single run
	High  *float64 `json:"high"`  // of the 95 % interval
	Runs  int      `json:"runs"`  // with a value
	nominal.Place
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Cell) JSONSchemaAlias() any { return cellJSON{} }

// MarshalJSON writes a value and its place, or why there is none.
func (c Cell) MarshalJSON() ([]byte, error) {
	if c.Why != "" {
		return json.Marshal(cellJSON{NotAvailable: c.Why})
	}
	return json.Marshal(cellJSON{valueJSON: &valueJSON{estimate.Number(c.Value.Mean), estimate.Number(c.Value.Low), estimate.Number(c.Value.High), c.Value.N, c.Place}})
}

// component is a principal component in JSON, by code and by program.
type component struct {
	Explained float64            `json:"explained"` // share of the variance, 0 to 1
	Loadings  map[string]float64 `json:"loadings"`  // by code of the statistic
	Scores    map[string]float64 `json:"scores"`    // by program
}

// statisticJSON is a statistic with the values of the programs.
type statisticJSON struct {
	Statistic
	Programs map[string]Cell `json:"programs"` // by name
}

// setJSON is a Set in JSON.
type setJSON struct {
	Programs     []string          `json:"programs"` // their names
	Statistics   []statisticJSON   `json:"statistics"`
	Components   []component       `json:"components"`    // the first ones explain most
	NotAvailable map[string]string `json:"not_available"` // what, and why
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (*Set) JSONSchemaAlias() any { return setJSON{} }

// MarshalJSON writes the set as `shadow characterize --format json` prints it.
func (s *Set) MarshalJSON() ([]byte, error) {
	out := setJSON{Programs: s.Programs, Components: []component{}, NotAvailable: map[string]string{}}
	for _, r := range s.Rows {
		cells := map[string]Cell{}
		for i, c := range r.Cells {
			cells[s.Programs[i]] = c
		}
		out.Statistics = append(out.Statistics, statisticJSON{r.Statistic, cells})
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
