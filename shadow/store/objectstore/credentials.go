package objectstore

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"stackagent/internal/text"
)

// metadataTimeout is for one answer of the service that gives a machine, a container or a pod its credentials.
const metadataTimeout = 5 * time.Second

// findCredentials asks those who may have credentials, in the usual order: the environment, the shared files (AWS_PROFILE),
// then a web identity or the role of this pod, container or machine. The first who has some is asked again when they expire,
// and nobody else: a failure then is an error, not a silent change of who we are.
func findCredentials(ctx context.Context, anonymous bool) (*credentials.Credentials, error) {
	if anonymous {
		return credentials.NewStatic("", "", "", credentials.SignatureAnonymous), nil
	}
	client := &http.Client{Timeout: metadataTimeout}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}}
	if !strings.EqualFold(os.Getenv("AWS_EC2_METADATA_DISABLED"), "true") || os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE") != "" {
		providers = append(providers, &credentials.IAM{Client: client})
	}
	var because error
	for _, p := range providers {
		c := credentials.New(p)
		v, err := c.GetWithContext(&credentials.CredContext{Client: client, Context: ctx})
		if err == nil && v.AccessKeyID != "" && v.SecretAccessKey != "" {
			return c, nil
		}
		if err != nil {
			because = err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	const advice = "no credentials for the object store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, " +
		"or give this machine or pod a role; for a public bucket add ?anonymous=true"
	if because == nil {
		return nil, errors.New(advice)
	}
	return nil, fmt.Errorf("%s (%s)", advice, text.Cut(text.OneLine(because.Error()), maxMessage))
}
