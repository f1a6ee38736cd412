package document

import (
	"strconv"
	"strings"

	"catena/storage/fault"
)

// parseEntry reads user:permission:true, where true may be left out. Names with a colon cannot be
// written in this form, so they are refused instead of being cut.
func parseEntry(text string) (user, permission string, granted bool, err error) {
	parts := strings.Split(text, ":")
	if len(parts) == 2 {
		parts = append(parts, "true")
	}
	if len(parts) == 3 && parts[0] != "" && parts[1] != "" {
		if granted, err = strconv.ParseBool(parts[2]); err == nil {
			return parts[0], parts[1], granted, nil
		}
	}
	return "", "", false, fault.Invalid.Errorf("ecm:acl: must be user:permission:true or user:permission:false, not %q", text).In("ecm:acl")
}

// canonicalID completes the identifier of an entry, user:permission:granted:creator:begin:end,
// of which the last parts may be missing. Entries are found by comparing identifiers as text
// (storage.ACE.ID), so that of a client needs the same six parts. Begin and end are milliseconds since
// 1970, empty if the entry has no such bound.
func canonicalID(id string) (string, error) {
	parts := strings.Split(id, ":")
	// The third part, whether it grants, is true by default; the others are empty.
	for len(parts) >= 2 && len(parts) < 6 {
		parts = append(parts, map[bool]string{true: "true", false: ""}[len(parts) == 2])
	}
	// Counting from the end keeps names of users that contain a colon apart from the parts that follow.
	n := len(parts)
	if n < 6 || parts[0] == "" || !isBool(parts[n-4]) || !isMillis(parts[n-2]) || !isMillis(parts[n-1]) {
		return "", fault.Invalid.Errorf("id: must be user:permission:granted:creator:begin:end, not %q", id).In("id")
	}
	return strings.Join(parts, ":"), nil
}

func isBool(s string) bool { return s == "true" || s == "false" }

func isMillis(s string) bool {
	if s == "" {
		return true
	}
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}
