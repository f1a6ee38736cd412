package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"catena/storage/fault"
)

const (
	// bucketScheme begins the address of a bucket.
	bucketScheme = "s3://"
	// partSize is how much of a copy is sent at once, and held in memory until it is, in bytes. An object has 10,000
	// parts at most, so this bounds a copy at 312 GiB.
	partSize = 32 << 20
	// metadataTime is how long the machine's role may take to answer with its keys, where there are no others.
	metadataTime = 5 * time.Second
)

// bucket is a depot in an object store that speaks the S3 protocol.
type bucket struct {
	client *minio.Client
	name   string
	prefix string // of all names, "" or with a slash at its end
	query  string // of the address, with its question mark
}

// openBucket reads an address: s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION, of which the bucket alone is
// needed: the endpoint is Amazon's unless there is one. Keys are those of AWS_ACCESS_KEY_ID and
// AWS_SECRET_ACCESS_KEY, of the file of credentials that Amazon's tools read, or of the machine's role.
func openBucket(address string) (*bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.User != nil || u.Port() != "" {
		return nil, fmt.Errorf("%q: %sBUCKET/PREFIX expected", address, bucketScheme)
	}
	b := &bucket{name: u.Host}
	if p := strings.Trim(u.Path, "/"); p != "" {
		b.prefix = p + "/"
	}
	if u.RawQuery != "" {
		b.query = "?" + u.RawQuery
	}
	endpoint, region := &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}, ""
	for key, values := range u.Query() {
		switch v := values[len(values)-1]; key {
		case "endpoint":
			if endpoint, err = url.Parse(v); err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" || strings.Trim(endpoint.Path, "/") != "" {
				return nil, fmt.Errorf("%q: endpoint: https://HOST expected, not %q", address, v)
			}
		case "region":
			region = v
		default:
			return nil, fmt.Errorf("%q: %q is neither endpoint nor region", address, key)
		}
	}
	b.client, err = minio.New(endpoint.Host, &minio.Options{
		Secure: endpoint.Scheme == "https", Region: region, MaxRetries: 4,
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
			&credentials.IAM{Client: &http.Client{Timeout: metadataTime}, Region: region},
		}),
	})
	return b, err
}

// openInBucket reads the address of one object.
func openInBucket(address string) (*bucket, string, error) {
	u, err := url.Parse(address)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return nil, "", fmt.Errorf("%q: %sBUCKET/NAME expected", address, bucketScheme)
	}
	name := path.Base(u.Path)
	u.Path, u.RawPath = path.Dir(u.Path), ""
	b, err := openBucket(u.String())
	return b, name, err
}

func (b *bucket) at(name string) string {
	return bucketScheme + b.name + "/" + b.prefix + name + b.query
}

func (b *bucket) list(ctx context.Context) (names []string, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for o := range b.client.ListObjectsIter(ctx, b.name, minio.ListObjectsOptions{Prefix: b.prefix}) {
		if o.Err != nil {
			return nil, b.failed(o.Err, "")
		}
		names = append(names, strings.TrimPrefix(o.Key, b.prefix))
	}
	return names, ctx.Err() // which ends the list without a word
}

func (b *bucket) write(ctx context.Context, name string, write func(io.Writer) error) error {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(w)
		w.CloseWithError(err)
		written <- err
	}()
	_, sent := b.client.PutObject(ctx, b.name, b.prefix+name, r, -1, minio.PutObjectOptions{ContentType: "application/x-tar", PartSize: partSize})
	_ = r.Close() // who writes does not wait for one that reads no more
	if err := <-written; err != nil && !errors.Is(err, io.ErrClosedPipe) {
		return err
	}
	return b.failed(sent, name)
}

func (b *bucket) open(ctx context.Context, name string) (io.ReadCloser, error) {
	o, err := b.client.GetObject(ctx, b.name, b.prefix+name, minio.GetObjectOptions{})
	if err == nil {
		_, err = o.Stat()
	}
	return o, b.failed(err, name)
}

func (b *bucket) remove(ctx context.Context, name string) error {
	return b.failed(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}), name)
}

func (b *bucket) ready(ctx context.Context, before time.Time) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for u := range b.client.ListIncompleteUploads(ctx, b.name, b.prefix, true) {
		if u.Err != nil {
			return b.failed(u.Err, "")
		}
		if u.Initiated.After(before) {
			continue
		}
		if err := b.client.RemoveIncompleteUpload(ctx, b.name, u.Key); err != nil {
			return b.failed(err, "")
		}
	}
	return nil
}

// failed is an error of the object store.
func (b *bucket) failed(err error, name string) error {
	if err == nil {
		return nil
	}
	kind := fault.Unavailable
	if code := minio.ToErrorResponse(err).Code; code == "NoSuchKey" || code == "NoSuchBucket" {
		kind = fault.NotFound
	}
	return kind.Errorf("%s: %w", b.at(name), err)
}
