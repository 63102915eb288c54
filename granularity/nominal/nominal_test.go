package nominal

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

func near(a, b, within float64) bool { return math.Abs(a-b) <= within }

// From the published statistics of DaCapo's h2: score and rank of so many.
func TestPlacesOfDaCapo(t *testing.T) {
	for _, c := range []struct{ rank, of, score int }{
		{1, 22, 10}, {4, 22, 9}, {5, 22, 8}, {6, 22, 8}, {7, 22, 7}, {8, 22, 7}, {10, 22, 6}, {11, 22, 5}, {12, 22, 5}, {13, 22, 5}, {14, 22, 4},
		{15, 22, 4}, {16, 22, 3}, {17, 22, 3}, {18, 22, 2}, {21, 22, 1}, {7, 21, 7},
		{1, 20, 10}, {2, 20, 9}, {10, 20, 5}, {14, 20, 3}, {16, 20, 2},
		{3, 18, 9}, {4, 18, 8}, {5, 18, 8}, {6, 18, 7}, {14, 18, 3}, {17, 18, 1}, {1, 3, 10},
	} {
		values := []float64{math.NaN()}
		for i := range c.of {
			values = append(values, float64(-i))
		}
		if got, want := Places(values)[c.rank], (Place{c.rank, c.of, c.score}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	got := Places([]float64{5, math.NaN(), 7, 5, 1})
	want := []Place{{2, 4, 6}, {}, {1, 4, 10}, {2, 4, 6}, {4, 4, 2}} // ranks 2 and 3: 10 (5 - 2.5) / 4 = 6.25
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("value %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	if p := Places([]float64{3}); p[0] != (Place{1, 1, 10}) {
		t.Errorf("alone: %+v", p)
	}
	// All equal: nobody is high, the mean rank of 22 is 11.5.
	if p := Places(make([]float64, 22)); p[0] != (Place{1, 22, 5}) || p[21] != p[0] {
		t.Errorf("all equal: %+v", p)
	}
	if p := Places([]float64{math.NaN()}); p[0] != (Place{}) {
		t.Errorf("none: %+v", p)
	}
}

// arrests are the violent crimes in US states of 1973 (McNeil 1977), the data set USArrests of R:
// murder, assault, urban population, rape.
var arrests = [][]float64{
	{13.2, 236, 58, 21.2}, {10, 263, 48, 44.5}, {8.1, 294, 80, 31}, {8.8, 190, 50, 19.5}, {9, 276, 91, 40.6}, {7.9, 204, 78, 38.7},
	{3.3, 110, 77, 11.1}, {5.9, 238, 72, 15.8}, {15.4, 335, 80, 31.9}, {17.4, 211, 60, 25.8}, {5.3, 46, 83, 20.2}, {2.6, 120, 54, 14.2},
	{10.4, 249, 83, 24}, {7.2, 113, 65, 21}, {2.2, 56, 57, 11.3}, {6, 115, 66, 18}, {9.7, 109, 52, 16.3}, {15.4, 249, 66, 22.2},
	{2.1, 83, 51, 7.8}, {11.3, 300, 67, 27.8}, {4.4, 149, 85, 16.3}, {12.1, 255, 74, 35.1}, {2.7, 72, 66, 14.9}, {16.1, 259, 44, 17.1},
	{9, 178, 70, 28.2}, {6, 109, 53, 16.4}, {4.3, 102, 62, 16.5}, {12.2, 252, 81, 46}, {2.1, 57, 56, 9.5}, {7.4, 159, 89, 18.8},
	{11.4, 285, 70, 32.1}, {11.1, 254, 86, 26.1}, {13, 337, 45, 16.1}, {0.8, 45, 44, 7.3}, {7.3, 120, 75, 21.4}, {6.6, 151, 68, 20},
	{4.9, 159, 67, 29.3}, {6.3, 106, 72, 14.9}, {3.4, 174, 87, 8.3}, {14.4, 279, 48, 22.5}, {3.8, 86, 45, 12.8}, {13.2, 188, 59, 26.9},
	{12.7, 201, 80, 25.5}, {3.2, 120, 80, 22.9}, {2.2, 48, 32, 11.2}, {8.5, 156, 63, 20.7}, {4, 145, 73, 26.2}, {5.7, 81, 39, 9.3},
	{2.6, 53, 66, 10.8}, {6.8, 161, 60, 15.6},
}

// R: prcomp(USArrests, scale = TRUE), also in James and others, An Introduction to Statistical Learning, section 10.4.
// Signs are turned so that the largest weight is positive.
func TestPrincipalComponentsOfUSArrests(t *testing.T) {
	c, err := Analyse(arrests)
	if err != nil {
		t.Fatal(err)
	}
	deviations := []float64{1.5748783, 0.9948694, 0.5971291, 0.4164494}
	loadings := [][]float64{
		{0.5358995, 0.5831836, 0.2781909, 0.5434321},
		{-0.4181809, -0.1879856, 0.8728062, 0.1673186},
		{-0.3412327, -0.2681484, -0.3780158, 0.8177779},
		{-0.64922780, 0.74340748, -0.13387773, -0.08902432},
	}
	for k, sd := range deviations {
		if !near(c.Explained[k], sd*sd/4, 1e-6) {
			t.Errorf("component %d explains %v, want %v", k+1, c.Explained[k], sd*sd/4)
		}
		for j, want := range loadings[k] {
			if !near(c.Loadings[k][j], want, 1e-6) {
				t.Errorf("component %d, statistic %d: %v, want %v", k+1, j, c.Loadings[k][j], want)
			}
		}
	}
	// Alabama and California in the same book's figure: -0.976 and -2.499 on the first component with the other sign.
	if !near(c.Scores[0][0], 0.9756604, 1e-4) || !near(c.Scores[4][0], 2.4986128, 1e-4) {
		t.Errorf("scores %v and %v", c.Scores[0], c.Scores[4])
	}
}

// Two statistics with the correlation r: (1 ± r)/2 of the variance, along the diagonals. The data are those of Smith's
// tutorial on principal components (2002), whose covariance matrix is 0.616555556, 0.615444444, 0.716555556.
func TestTwoStatistics(t *testing.T) {
	x := []float64{2.5, 0.5, 2.2, 1.9, 3.1, 2.3, 2, 1, 1.5, 1.1}
	y := []float64{2.4, 0.7, 2.9, 2.2, 3.0, 2.7, 1.6, 1.1, 1.6, 0.9}
	var values [][]float64
	for i := range x {
		values = append(values, []float64{math.NaN(), x[i], 7, y[i]}) // nobody has the first, all the same third
	}
	values[0][0] = 1
	c, err := Analyse(values)
	if err != nil {
		t.Fatal(err)
	}
	r := 0.615444444 / math.Sqrt(0.616555556*0.716555556)
	if len(c.Used) != 2 || c.Used[0] != 1 || c.Used[1] != 3 || !near(c.Explained[0], (1+r)/2, 1e-8) || !near(c.Explained[1], (1-r)/2, 1e-8) {
		t.Errorf("%+v, want %v of the variance", c, (1+r)/2)
	}
	if d := math.Sqrt(0.5); !near(c.Loadings[0][0], d, 1e-9) || !near(c.Loadings[0][1], d, 1e-9) || !near(c.Loadings[1][0], d, 1e-9) || !near(c.Loadings[1][1], -d, 1e-9) {
		t.Errorf("loadings %v", c.Loadings)
	}
}

// More statistics than programs: as many components as programs less one, which explain everything and keep distances.
func TestMoreStatisticsThanPrograms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	values := make([][]float64, 4)
	for i := range values {
		for range 9 {
			values[i] = append(values[i], random.NormFloat64())
		}
	}
	c, err := Analyse(values)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, e := range c.Explained {
		sum += e
	}
	if len(c.Explained) != 3 || !near(sum, 1, 1e-9) {
		t.Errorf("%v", c.Explained)
	}
	var scaled, scores float64
	for j := range 9 {
		column := scale(values, j)
		scaled += (column[0] - column[1]) * (column[0] - column[1])
	}
	for k := range c.Explained {
		scores += (c.Scores[0][k] - c.Scores[1][k]) * (c.Scores[0][k] - c.Scores[1][k])
	}
	if !near(scaled, scores, 1e-9) {
		t.Errorf("programs are %v apart, in components %v", scaled, scores)
	}
}

func TestNotEnough(t *testing.T) {
	if _, err := Analyse(arrests[:2]); !errors.Is(err, ErrPrograms) {
		t.Error(err)
	}
	nan := math.NaN()
	if _, err := Analyse([][]float64{{1, nan, 3}, {2, 4, 3}, {3, 5, 3}}); !errors.Is(err, ErrStatistics) {
		t.Error(err)
	}
}
