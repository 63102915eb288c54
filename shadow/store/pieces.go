package store

import (
	"slices"
	"strings"
)

// EndedElsewhere is a folder whose session went on in the store of another shadow.
const EndedElsewhere = "continued elsewhere"

// Piece is another store that may hold a part of a session: several shadows, each with a store of its own, had
// it one after another. Join makes one folder of the pieces.
type Piece struct {
	Store string `json:"store"` // the store's id
	Host  string `json:"host"`  // of the shadow
	Path  string `json:"path"`  // of the store on that host
}

// maxPieces bounds the list.
const maxPieces = 64

// AddPiece notes another store, once.
func (m *Manifest) AddPiece(p Piece) {
	if !slices.Contains(m.Pieces, p) && len(m.Pieces) < maxPieces {
		m.Pieces = append(m.Pieces, p)
	}
}

// PieceNote warns the reader of a folder that holds only a part of its session;
// "" when it holds the whole.
func (m *Manifest) PieceNote() string {
	if len(m.Pieces) == 0 {
		return ""
	}
	return "this folder holds only a part of the session; other parts may be in " + placesOf(m.Pieces) +
		": shadow join makes one folder of them. What is missing here is not counted as lost, and what only another part describes may have no name"
}

func placesOf(pieces []Piece) string {
	list := make([]string, len(pieces))
	for i, p := range pieces {
		list[i] = p.Host + ":" + p.Path
	}
	return strings.Join(list, ", ")
}
