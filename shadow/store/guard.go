package store

import "stackagent/internal/parquet"

// What a part claims is held against limits before the library sees it.
var (
	errTooLarge = parquet.ErrTooLarge
	checkFooter = parquet.Footer
	checkPages  = parquet.Pages
)
