// Command pocketbase is a peer that the benchmarks compare with: PocketBase (MIT), with a command that fills it. It is a module
// of its own, which is built when a benchmark wants it.
package main

import (
	"fmt"
	"log"
	"strconv"
	"strings"

	"github.com/pocketbase/dbx"
	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/core"
	"github.com/spf13/cobra"
)

func main() {
	app := pocketbase.New()
	app.RootCmd.AddCommand(&cobra.Command{
		Use: "fill ITEMS DECK", Short: "Create the administrator, collections and records of the benchmarks", Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[0])
			if err == nil {
				err = app.RunAllMigrations()
			}
			if err == nil {
				err = fill(app, n, args[1])
			}
			return err
		},
	})
	if err := app.Start(); err != nil {
		log.Fatal(err)
	}
}

func fill(app core.App, items int, deck string) error {
	app.Settings().Logs.MaxDays = 0 // no row for each request
	if err := app.Save(app.Settings()); err != nil {
		return err
	}
	admins, err := app.FindCollectionByNameOrId(core.CollectionNameSuperusers)
	if err != nil {
		return err
	}
	admin := core.NewRecord(admins)
	admin.SetEmail("admin@example.org")
	admin.SetPassword("correct horse battery")
	if err := app.Save(admin); err != nil {
		return err
	}
	c := core.NewBaseCollection("items")
	for _, name := range strings.Fields("title description source language rights format status owner note") {
		c.Fields.Add(&core.TextField{Name: name})
	}
	for _, name := range strings.Fields("priority rank amount") {
		c.Fields.Add(&core.NumberField{Name: name})
	}
	for _, name := range strings.Fields("status priority rank source") {
		c.AddIndex("items_"+name, false, name, "")
	}
	if err := app.Save(c); err != nil {
		return err
	}
	d := core.NewBaseCollection("decks")
	d.Fields.Add(&core.TextField{Name: "title"}, &core.EditorField{Name: "data"})
	if err := app.Save(d); err != nil {
		return err
	}
	return app.RunInTransaction(func(tx core.App) error { return records(tx, items, deck) })
}

// records are what catena has: the values of the i-th item are the same.
func records(app core.App, items int, deck string) error {
	for i := range items {
		r := uint32(i) * 2654435761
		_, err := app.DB().Insert("items", dbx.Params{
			"id": fmt.Sprintf("i%014d", i), "title": fmt.Sprint("Item ", i), "description": strings.Repeat("lorem ipsum ", 20), "source": fmt.Sprintf("s%08d", i),
			"language": "en", "rights": "all", "format": "text/plain", "status": []string{"draft", "open", "approved", "paid"}[r>>8%4], "owner": fmt.Sprint("user", r%500),
			"note": strings.Repeat("note ", 10), "priority": r >> 12 % 10, "rank": r >> 4, "amount": float64(r%100_000) / 100,
		}).Execute()
		if err != nil {
			return err
		}
	}
	for i := range 500 {
		if _, err := app.DB().Insert("decks", dbx.Params{"id": fmt.Sprintf("d%014d", i), "title": fmt.Sprint("deck ", i), "data": deck}).Execute(); err != nil {
			return err
		}
	}
	return nil
}
