package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"catena/storage"
)

const (
	verifyLimit  = 0.8 // of reading the files
	verifyRounds = 3
	verifyFile   = 1 << 20 // bytes of each content
)

// BenchmarkVerify runs catena verify on a data directory, and reads all files in it with as many readers as there are
// processors, in turn, and reports the medians. Content is in files of 1 MiB. CATENA_BENCH_DOCS sets the number of
// documents (10,000), CATENA_BENCH_FILE the size of all content in MiB (64).
//
//	cold  the files are on disk only
//	warm  the files are in the page cache, as far as they fit
//
//	CATENA_BENCH_DOCS=100000 CATENA_BENCH_FILE=10240 go test -run '^$' -bench Verify -timeout 1h ./cmd/catena
func BenchmarkVerify(b *testing.B) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	data := filepath.Join(b.TempDir(), "data")
	fillToVerify(b, data, number("CATENA_BENCH_DOCS", 10_000), number("CATENA_BENCH_FILE", 64))
	binary, err := builtBinary()
	if err != nil {
		b.Fatal(err)
	}
	for _, cache := range []string{"cold", "warm"} {
		b.Run(cache, func(b *testing.B) {
			var rates [2][]float64
			var used []float64 // seconds of a processor
			for range verifyRounds {
				for i, work := range []func() int64{
					func() int64 {
						verify := exec.CommandContext(b.Context(), binary, "verify", "--data", data)
						if out, err := verify.CombinedOutput(); err != nil {
							b.Fatalf("%v\n%s", err, out)
						}
						used = append(used, (verify.ProcessState.UserTime() + verify.ProcessState.SystemTime()).Seconds())
						return sizeOf(b, data)
					},
					func() int64 { return readAll(b, data) },
				} {
					if cache == "cold" {
						evict(b, data)
					} else {
						readAll(b, data)
					}
					began := time.Now()
					size := work()
					rates[i] = append(rates[i], float64(size)/1e6/time.Since(began).Seconds())
				}
			}
			for i := range rates {
				slices.Sort(rates[i])
			}
			slices.Sort(used)
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(used[verifyRounds/2], "cpu-s")
			b.ReportMetric(rates[0][verifyRounds/2], "MB/s")
			b.ReportMetric(rates[1][verifyRounds/2], "read-MB/s")
			b.ReportMetric(rates[0][verifyRounds/2]/rates[1][verifyRounds/2], "ratio")
			b.ReportMetric(verifyLimit, "limit")
		})
	}
}

// fillToVerify makes documents, and others with content of so many MiB altogether.
func fillToVerify(b *testing.B, data string, docs, mib int) {
	a, err := (&global{data: data, logLevel: "error", logFormat: "text"}).openWith(b.Context(), openOptions{adminPassword: adminPassword})
	if err != nil {
		b.Fatal(err)
	}
	x := &bench{}
	x.folder(b, a)
	x.fillCatena(b, a, docs)
	random := rand.NewChaCha8([32]byte{})
	for i := range mib {
		err := a.repo.Update(b.Context(), a.repo.System(), func(tx *storage.Tx) error {
			up, err := tx.Doc("/default-domain/workspaces/bench")
			if err != nil {
				return err
			}
			content, err := tx.NewBlob("f.bin", "application/octet-stream", io.LimitReader(random, verifyFile))
			if err != nil {
				return err
			}
			_, err = tx.Create(up, "File", fmt.Sprint("content", i), storage.Props{"file:content": content})
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := a.close(); err != nil {
		b.Fatal(err)
	}
}

// eachFile calls fn with all files below a folder, several at a time.
func eachFile(b *testing.B, dir string, fn func(name string) error) {
	b.Helper()
	var all errgroup.Group
	all.SetLimit(runtime.NumCPU())
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all.Go(func() error { return fn(name) })
		}
		return err
	})
	if err := errors.Join(err, all.Wait()); err != nil {
		b.Fatal(err)
	}
}

// readAll reads all files below a folder and returns their size.
func readAll(b *testing.B, dir string) int64 {
	var size atomic.Int64
	eachFile(b, dir, func(name string) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, make([]byte, 1<<20))
		size.Add(n)
		return err
	})
	return size.Load()
}

// sizeOf returns the size of all files below a folder.
func sizeOf(b *testing.B, dir string) int64 {
	var size atomic.Int64
	eachFile(b, dir, func(name string) error {
		info, err := os.Stat(name)
		if err == nil {
			size.Add(info.Size())
		}
		return err
	})
	return size.Load()
}

// evict has the system forget what it has in memory of the files below a folder.
func evict(b *testing.B, dir string) {
	eachFile(b, dir, func(name string) error {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		return errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED))
	})
}
