package objectstore_test

import (
	"testing"

	"stackagent/internal/testobjects"
	"stackagent/shadow/store/objectstore"
	"stackagent/shadow/store/objectstore/objectstoretest"
)

func TestStores(t *testing.T) {
	folder := func(t *testing.T) objectstore.Store {
		s, err := objectstore.Open(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Run("folder", func(t *testing.T) { objectstoretest.Run(t, folder) })
	t.Run("counted", func(t *testing.T) {
		objectstoretest.Run(t, func(t *testing.T) objectstore.Store { return objectstore.NewCounting(folder(t)) })
	})
	t.Run("s3", func(t *testing.T) {
		objectstoretest.Run(t, func(t *testing.T) objectstore.Store {
			s, err := objectstore.Open(t.Context(), testobjects.Start(t).Address("team/a", ""))
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
	s, err := objectstore.Open(t.Context(), server.Address("p", ""))
	if err != nil {
		t.Fatal(err)
	}
	c := objectstore.NewCounting(s)
	objectstoretest.Use(t, c)
	cost := c.Cost()
	if sum := cost.Requests(); sum != server.Requests() || cost.Read != objectstoretest.UseRead || cost.Written != objectstoretest.UseWritten {
		t.Errorf("%+v: %d requests, but the server had %d; want %d bytes read and %d written", cost, sum, server.Requests(), objectstoretest.UseRead, objectstoretest.UseWritten)
	}
}
