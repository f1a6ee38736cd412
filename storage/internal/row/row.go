// Package row holds the keys of rows that only storage and the packages below it can reach: packages that keep jobs,
// webhooks or uploads use them to access their own rows in a transaction. Nobody else can make one, so nothing else
// gets past the checks of those packages.
//
// A value of one of these types is a capability: functions that would otherwise have to check their caller
// take one as an argument, and the compiler sees to it that only packages below storage can pass it.
package row

// Secret names a table of small records that the packages below storage alone can name.
type Secret struct{ Name string }

// Kept has a row for each document that must be kept, by repository and id. Package retention writes it, and searches read it.
var Kept = Secret{Name: "retention"}
