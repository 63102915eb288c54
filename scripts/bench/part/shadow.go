package part

import "context"

func Shadow(ctx context.Context, c Config) (string, error) { return "", nil }
func Query(ctx context.Context, c Config) (string, error)  { return "", nil }
