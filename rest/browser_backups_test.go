package rest_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"catena/decks"
	process "catena/ops/service"
	"catena/rest/resttest"
)

// copier is a server that makes backups, one step each time somebody looks.
type copier struct {
	mu    sync.Mutex
	now   *process.BackupRun
	ended *process.BackupRun
	made  []process.Backup
}

func (c *copier) server() *process.Server {
	return &process.Server{Backups: c.shown, BackUp: c.begin}
}

func (c *copier) begin(by, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = &process.BackupRun{Name: name, By: by, Began: time.Now(), Expected: 4000, Only: name != ""}
	if name == "" {
		c.now.Name = "catena-20260301T120000Z.tar"
	}
	return nil
}

func (c *copier) shown(context.Context) *process.Backups {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now != nil {
		if c.now.Bytes += 2000; c.now.Bytes > 4000 {
			done := *c.now
			done.Ended = time.Now()
			c.ended, c.now = &done, nil
			if done.Only {
				c.made[0].Verified = time.Now()
			} else {
				c.made = append(c.made, process.Backup{Name: done.Name, Time: time.Now().Add(-time.Hour), Size: 4000})
			}
		}
	}
	return &process.Backups{Folder: "/backups", Every: "24h0m0s", Keep: 7, Made: append([]process.Backup{}, c.made...), Now: c.now, Ended: c.ended}
}

// TestBrowserBackups makes a backup on the page of administration, follows it, and verifies it.
func TestBrowserBackups(t *testing.T) {
	s := resttest.Start(t, resttest.Config{Ops: decks.Ops(), Repo: decks.Listen, Process: (&copier{}).server()})
	b := browse(t, s)
	b.signIn("Administrator")
	b.open("/ui/admin#server")
	b.press("#server", "Back up now")
	b.wait(`document.querySelector("#server progress")?.hidden === false && document.querySelector("#server [role=status]").textContent.includes("for Administrator")`)
	b.shot("backup-made")
	b.wait(`document.querySelectorAll("#server [aria-labelledby=backups-title] tbody tr").length === 1 && document.querySelector("#server [role=status]").textContent.includes("was made and verified")`)
	b.press("#server", "Verify")
	b.wait(`document.querySelector("#server [aria-labelledby=backups-title] .tag.good") && document.querySelector("#server [role=status]").textContent.includes("it is whole")`)
	b.shot("backups")
	b.narrow("backups-phone")
	b.look("backups")
	if got := s.Do("POST", "/api/v1/automation/Audit.QueryWithPageProvider", `{"params":{"query":"FROM LogEntry log WHERE log.eventId LIKE 'backup%' ORDER BY log.eventDate"}}`); got.StatusCode != http.StatusOK || len(got.JSON(t)["entries"].([]any)) != 2 {
		t.Errorf("audit: %s", got.Text)
	}
	b.quiet()
}
