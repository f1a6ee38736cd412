package owner

import (
	"encoding/json"

	"catena/storage/directory/record"
	"catena/storage/fault"
	"catena/storage/people"
)

// shown are the users and groups as entries of directories. Passwords are not in their rows, and that field reads as of
// every directory.
var shown = map[string]record.Shown{
	"groups": {
		Named: []string{"groupname", "grouplabel"}, Find: people.GroupsNamed,
		Fields: func(name string, row []byte) (map[string]string, error) {
			var g people.Group
			if err := json.Unmarshal(row, &g); err != nil {
				return nil, fault.Internal.Errorf("group %s: %w", name, err)
			}
			return map[string]string{"groupname": name, "grouplabel": g.Label, "description": g.Description}, nil
		},
	},
	"users": {
		Named: []string{"username", "firstName", "lastName", "email"}, Find: people.UsersNamed,
		Fields: func(name string, row []byte) (map[string]string, error) {
			var u people.User
			if err := json.Unmarshal(row, &u); err != nil {
				return nil, fault.Internal.Errorf("user %s: %w", name, err)
			}
			return map[string]string{
				"username": name, "firstName": u.FirstName, "lastName": u.LastName, "email": u.Email, "company": u.Company,
			}, nil
		},
	},
}
