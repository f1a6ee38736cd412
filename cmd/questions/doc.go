// Package questions holds the queries that people ask of four repositories (invoices, photos, contracts and a wiki), each
// beside the same query on SQLite with the indexes that a person would create there. A test compares the answers, and a
// benchmark the time and how it grows. A query that is refused fails both. It consists of tests only.
package questions
