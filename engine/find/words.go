package find

import (
	"slices"
	"strings"
	"sync"

	"catena/storage/text"
)

// said are words that mean the same to those who look for an operation; the first of a line
// is mostly what operations call it.
const said = `
	mail email message
	delete remove erase destroy drop forever permanently
	trash bin
	untrash undelete recover restore
	permission right access acl ace grant allow share give
	block forbid deny
	create make new add
	update change edit modify set save write
	get fetch read load show open
	query search find look select list
	children child contents inside folder
	blob file attachment binary content upload
	import upload ingest
	convert transform turn export
	version revision checkin history snapshot
	audit history log changed events
	trace debug profile
	lock reserve
	unlock release
	deck slide slides presentation talk
	user person people account member
	group team role
	directory vocabulary list
	entry term
	tag label keyword
	collection favorite bookmark
	comment annotation note reply remark
	relation link
	publish section release
	move rename relocate
	copy duplicate clone
	lifecycle state transition status follow approve
	zip archive compress
	pdf print
	image picture photo thumbnail
	script javascript js code
	chain pipeline flow
	property field metadata attribute value
	title name
	subscribe watch follow notification notify alert
	bulk many all mass
	run execute call invoke
	login impersonate sudo
	variable context var
	task approval approver assign assignment ask
	watermark stamp mark
	csv spreadsheet xlsx excel table
	http service api request
	input this
	schedule cron night nightly daily weekly monthly hourly periodically recurring timer
`

// old are the families of operations for the platform's own pages, which people seldom mean.
var old = map[string]bool{"JsonStack": true, "LocalConfiguration": true, "Navigation": true, "PlatformDrive": true, "Seam": true, "WebUI": true}

// ignored are words of every sentence.
const ignored = "a an and are as at be by can do does for from how i in into is it its me my of on or our please some that the their them there this to want what when which who will with you your"

var common = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, stem := range text.Analyse("en", ignored).Stems() {
		out[stem] = true
	}
	return out
})

// synonyms are the stems that mean the same as one.
var synonyms = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(said)) {
		same := text.Analyse("en", line).Stems()
		for _, a := range same {
			for _, b := range same {
				if a != b && !slices.Contains(out[a], b) {
					out[a] = append(out[a], b)
				}
			}
		}
	}
	return out
})
