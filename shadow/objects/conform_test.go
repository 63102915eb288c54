package objects_test

import (
	"testing"

	"stackagent/internal/testobjects"
	"stackagent/shadow/objects"
	"stackagent/shadow/objects/objectstest"
)

func TestStores(t *testing.T) {
	folder := func(t *testing.T) objects.Store {
		s, err := objects.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("folder", func(t *testing.T) { objectstest.Run(t, folder) })
	t.Run("counted", func(t *testing.T) {
		objectstest.Run(t, func(t *testing.T) objects.Store { return objects.NewCounting(folder(t)) })
	})
	t.Run("s3", func(t *testing.T) {
		objectstest.Run(t, func(t *testing.T) objects.Store {
			s, err := objects.Open(t.Context(), testobjects.Start(t).Address("team/a", ""))
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
}

// TestCost: the requests that are counted are those that a server sees.
func TestCost(t *testing.T) {
	server := testobjects.Start(t)
	s, err := objects.Open(t.Context(), server.Address("p", ""))
	if err != nil {
		t.Fatal(err)
	}
	c := objects.NewCounting(s)
	objectstest.Use(t, c)
	cost := c.Cost()
	if sum := cost.Requests(); sum != server.Requests() || cost.Read != objectstest.UseRead || cost.Written != objectstest.UseWritten {
		t.Errorf("%+v: %d requests, but the server had %d; want %d bytes read and %d written", cost, sum, server.Requests(), objectstest.UseRead, objectstest.UseWritten)
	}
}
