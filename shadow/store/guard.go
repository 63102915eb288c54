package store

import "stackagent/internal/parquetguard"

// What a part claims is held against limits before the library sees it.
var (
	errTooLarge = parquetguard.ErrTooLarge
	checkFooter = parquetguard.Footer
	checkPages  = parquetguard.Pages
)
