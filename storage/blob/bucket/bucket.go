// Package bucket keeps objects in an object store that speaks the S3 protocol: backups, and the content of files. Who
// operates the server says which store that is, so it may be in a private network, unlike what engine/egress reaches.
// Every call ends: connections that make no progress are cut, and what fails is tried again a few times. What the
// objects are, and when they go, is for callers.
package bucket

import (
	"bytes"
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
	// Scheme begins the address of a bucket.
	Scheme = "s3://"
	// partSize is how much of an object of unknown size is sent at once, and held in memory until it is, in bytes. An
	// object has 10,000 parts at most, so this bounds a copy at 312 GiB.
	partSize = 32 << 20
	// metadataTime is how long the machine's role may take to answer with its keys, where there are no others.
	metadataTime = 5 * time.Second
	// answerTime is how long what carries no content may take, with all its tries.
	answerTime = 30 * time.Second
	// tries is how often a request is sent until it goes well.
	tries = 4
)

// Bucket is where objects are kept: below a prefix in a bucket of an object store. It is safe for use by many.
type Bucket struct {
	client *minio.Client
	name   string
	prefix string // of all names, "" or with a slash at its end
	query  string // of the address, with its question mark
}

// Open reads an address: s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION, of which only the bucket is required:
// the default endpoint is Amazon's. Keys are those of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, of the file of
// credentials that Amazon's tools read, or of the machine's role. Nothing is asked of the store yet.
func Open(address string) (*Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme+"://" != Scheme || u.Host == "" || u.User != nil || u.Port() != "" {
		return nil, fmt.Errorf("%q: must be %sBUCKET/PREFIX", address, Scheme)
	}
	b := &Bucket{name: u.Host}
	if p := strings.Trim(u.Path, "/"); p != "" {
		b.prefix = p + "/"
	}
	if u.RawQuery != "" {
		b.query = "?" + u.RawQuery
	}
	endpoint, region, err := options(u)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", address, err)
	}
	transport, err := newTransport(endpoint.Scheme == "https")
	if err != nil {
		return nil, err
	}
	b.client, err = minio.New(endpoint.Host, &minio.Options{
		Secure: endpoint.Scheme == "https", Region: region, MaxRetries: tries, Transport: transport,
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{},
			&credentials.IAM{Client: &http.Client{Timeout: metadataTime}, Region: region},
		}),
	})
	return b, err
}

// options reads what follows the ? of an address.
func options(u *url.URL) (endpoint *url.URL, region string, err error) {
	endpoint = &url.URL{Scheme: "https", Host: "s3.amazonaws.com"}
	for key, values := range u.Query() {
		switch v := values[len(values)-1]; key {
		case "endpoint":
			endpoint, err = url.Parse(v)
			if err != nil || endpoint.Host == "" || endpoint.Scheme != "https" && endpoint.Scheme != "http" || strings.Trim(endpoint.Path, "/") != "" {
				return nil, "", fmt.Errorf("endpoint: must be https://HOST, not %q", v)
			}
		case "region":
			region = v
		default:
			return nil, "", fmt.Errorf("unknown option %q, must be endpoint or region", key)
		}
	}
	return endpoint, region, nil
}

// OpenObject reads the address of one object, and returns the bucket below the prefix that it has, and its name there.
func OpenObject(address string) (*Bucket, string, error) {
	u, err := url.Parse(address)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return nil, "", fmt.Errorf("%q: must be %sBUCKET/NAME", address, Scheme)
	}
	name := path.Base(u.Path)
	u.Path, u.RawPath = path.Dir(u.Path), ""
	b, err := Open(u.String())
	return b, name, err
}

// At returns the address of an object, of the bucket itself for "".
func (b *Bucket) At(name string) string {
	return Scheme + b.name + "/" + b.prefix + name + b.query
}

// Each calls fn with every object whose name has no slash, in the order of their names: its size in bytes, and when it was
// written by the clock of the object store. It stops at the first error.
func (b *Bucket) Each(ctx context.Context, fn func(name string, size int64, modified time.Time) error) error {
	return b.EachAfter(ctx, "", fn)
}

// EachAfter is Each for the objects whose names are after another.
func (b *Bucket) EachAfter(ctx context.Context, after string, fn func(name string, size int64, modified time.Time) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	list := minio.ListObjectsOptions{Prefix: b.prefix}
	if after != "" {
		list.StartAfter = b.prefix + after
	}
	for o := range b.client.ListObjectsIter(ctx, b.name, list) {
		if o.Err != nil {
			return b.failed(o.Err, "")
		}
		name := strings.TrimPrefix(o.Key, b.prefix)
		if name == "" || name <= after || strings.Contains(name, "/") {
			continue // a store may not know where to begin
		}
		if err := fn(name, o.Size, o.LastModified); err != nil {
			return err
		}
	}
	return ctx.Err() // which ends the list without a word
}

// List returns the names of the objects that Each knows.
func (b *Bucket) List(ctx context.Context) (names []string, err error) {
	err = b.Each(ctx, func(name string, _ int64, _ time.Time) error {
		names = append(names, name)
		return nil
	})
	return names, err
}

// Stat returns the size of an object in bytes, and when it was written by the clock of the object store. One that is not
// there is NotFound.
func (b *Bucket) Stat(ctx context.Context, name string) (size int64, modified time.Time, err error) {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	o, err := b.client.StatObject(ctx, b.name, b.prefix+name, minio.StatObjectOptions{})
	return o.Size, o.LastModified, b.failed(err, name)
}

// Put makes an object of the size bytes that r holds, in constant memory: they are sent with checksums, in parts if they are
// many, and once it returns the store has them. If r fails the object is as it was before.
func (b *Bucket) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	source := &source{r: r}
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, source, size, minio.PutObjectOptions{ContentType: "application/octet-stream", SendContentMd5: true})
	if source.err != nil {
		return source.err
	}
	return b.failed(err, name)
}

// source remembers what its reader failed with, and hides what else that can.
type source struct {
	r   io.Reader
	err error
}

// Read reads on.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// Create makes an object of a few bytes if there is none of the name. One that is there is Exists.
func (b *Bucket) Create(ctx context.Context, name string, data []byte) error {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	o := minio.PutObjectOptions{ContentType: "text/plain", SendContentMd5: true}
	o.SetMatchETagExcept("*")
	_, err := b.client.PutObject(ctx, b.name, b.prefix+name, bytes.NewReader(data), int64(len(data)), o)
	if minio.ToErrorResponse(err).Code == minio.PreconditionFailed {
		return fault.Exists.Errorf("%s: %w", b.At(name), err)
	}
	return b.failed(err, name)
}

// Write makes an object of what write writes, once that is whole. What had the name goes then.
func (b *Bucket) Write(ctx context.Context, name string, write func(io.Writer) error) error {
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

// Open opens an object, which is asked for as far as it is read. One that is not there is NotFound.
func (b *Bucket) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	size, _, err := b.Stat(ctx, name)
	if err != nil {
		return nil, err
	}
	r := b.Reader(ctx, name, size)
	r.Expect(size)
	return r, nil
}

// Remove removes an object. It succeeds if there is none.
func (b *Bucket) Remove(ctx context.Context, name string) error {
	ctx, stop := context.WithTimeout(ctx, answerTime)
	defer stop()
	return b.failed(b.client.RemoveObject(ctx, b.name, b.prefix+name, minio.RemoveObjectOptions{}), name)
}

// Ready removes what Put and Write that were interrupted before a moment have left.
func (b *Bucket) Ready(ctx context.Context, before time.Time) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for u := range b.client.ListIncompleteUploads(ctx, b.name, b.prefix, true) {
		if u.Err != nil {
			return b.failed(u.Err, "")
		}
		if u.Initiated.After(before) || strings.Contains(strings.TrimPrefix(u.Key, b.prefix), "/") {
			continue
		}
		if err := b.client.RemoveIncompleteUpload(ctx, b.name, u.Key); err != nil {
			return b.failed(err, "")
		}
	}
	return nil
}

// failed is an error of the object store.
func (b *Bucket) failed(err error, name string) error {
	if err == nil {
		return nil
	}
	kind := fault.Unavailable
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		kind = fault.NotFound
	}
	return kind.Errorf("%s: %w", b.At(name), err)
}
