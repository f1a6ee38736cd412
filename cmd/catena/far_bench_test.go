package main

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// farAway returns the address of a database by a way that takes a while in each direction.
func farAway(b *testing.B, address string, wait time.Duration) string {
	config, err := pgx.ParseConfig(address)
	must(b, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	b.Cleanup(func() { _ = l.Close() })
	network, there := pgNetwork(config.Host, config.Port)
	go func() {
		for {
			here, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer here.Close()
				far, err := (&net.Dialer{}).DialContext(b.Context(), network, there)
				if err != nil {
					return
				}
				defer far.Close()
				go delayed(far, here, wait)
				delayed(here, far, wait)
			}()
		}
	}()
	at := l.Addr().(*net.TCPAddr)
	return fmt.Sprintf("postgres://%s@127.0.0.1:%d/%s?sslmode=disable", config.User, at.Port, config.Database)
}

func pgNetwork(host string, port uint16) (network, address string) {
	if strings.HasPrefix(host, "/") {
		return "unix", fmt.Sprintf("%s/.s.PGSQL.%d", host, port)
	}
	return "tcp", net.JoinHostPort(host, strconv.Itoa(int(port)))
}

// delayed copies what comes, each piece a while later, however many are on the way.
func delayed(to io.Writer, from io.Reader, wait time.Duration) {
	type piece struct {
		due  time.Time
		data []byte
	}
	way := make(chan piece, 1000)
	go func() {
		defer close(way)
		for {
			data := make([]byte, 64<<10)
			n, err := from.Read(data)
			if n > 0 {
				way <- piece{time.Now().Add(wait), data[:n]}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range way {
		time.Sleep(time.Until(p.due))
		if _, failed := to.Write(p.data); failed != nil {
			for range way { // until nothing more comes
			}
			return
		}
	}
}
