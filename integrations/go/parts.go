package idptest

import (
	"net/url"
	"time"
)

// Users are the users of the issuer.
type Users struct{ idp *Idp }

// User is a user. Call returns the fields that it lacks.
type User struct {
	Username    string
	ID          string
	DisplayName string
	Email       string
	Status      string
}

// List returns all users.
func (users Users) List() []User {
	users.idp.t.Helper()
	var all []User
	users.idp.Call("GET", "users", nil, &all)
	return all
}

// Show returns one user.
func (users Users) Show(username string) User {
	users.idp.t.Helper()
	var user User
	users.idp.Call("GET", pathOf(username), nil, &user)
	return user
}

// Add adds a user. The fields are those of a fixture file.
func (users Users) Add(username string, more ...Fields) User {
	users.idp.t.Helper()
	var user User
	users.idp.Call("POST", "users", merged(Fields{"username": username}, more), &user)
	return user
}

// Edit changes fields of a user.
func (users Users) Edit(username string, fields Fields) {
	users.idp.t.Helper()
	users.idp.Call("PATCH", pathOf(username), fields, nil)
}

// Remove removes a user with their grants and sessions.
func (users Users) Remove(username string) {
	users.idp.t.Helper()
	users.idp.Call("DELETE", pathOf(username), nil, nil)
}

// Suspend keeps the user from signing in until Restore; until then, their tokens get 403.
func (users Users) Suspend(username string) {
	users.idp.t.Helper()
	users.idp.Call("POST", pathOf(username)+"/suspend", nil, nil)
}

// Ban ends the user's sessions and revokes their grants permanently.
func (users Users) Ban(username string) {
	users.idp.t.Helper()
	users.idp.Call("POST", pathOf(username)+"/ban", nil, nil)
}

// Restore makes a suspended or banned user active again.
func (users Users) Restore(username string) {
	users.idp.t.Helper()
	users.idp.Call("POST", pathOf(username)+"/restore", nil, nil)
}

func pathOf(username string) string { return "users/" + url.PathEscape(username) }

// Clock is the clock of the issuer. The clock of your app is another one.
type Clock struct{ idp *Idp }

// Now returns what the clock shows.
func (clock Clock) Now() time.Time {
	clock.idp.t.Helper()
	return clock.ask("GET", "clock", nil)
}

// Advance moves the clock forward, by whole seconds.
func (clock Clock) Advance(by time.Duration) time.Time {
	clock.idp.t.Helper()
	return clock.ask("POST", "clock/advance", Fields{"by": int(by.Seconds())})
}

// Set sets the clock.
func (clock Clock) Set(to time.Time) time.Time {
	clock.idp.t.Helper()
	return clock.ask("POST", "clock/set", Fields{"to": to.UTC().Format(time.RFC3339)})
}

// Freeze stops the clock, which can still be advanced and set.
func (clock Clock) Freeze() time.Time {
	clock.idp.t.Helper()
	return clock.ask("POST", "clock/freeze", nil)
}

// Reset lets the clock show the real time again.
func (clock Clock) Reset() time.Time {
	clock.idp.t.Helper()
	return clock.ask("POST", "clock/reset", nil)
}

func (clock Clock) ask(method, path string, body any) time.Time {
	clock.idp.t.Helper()
	var state struct{ Now time.Time }
	clock.idp.Call(method, path, body, &state)
	return state.Now
}

// Faults are responses that are wrong on purpose.
type Faults struct{ idp *Idp }

// Add adds a fault and returns its ID. The fields say what goes wrong, and for which requests: Fields{"status": 503, "times": 2}.
func (faults Faults) Add(endpoint string, fault Fields) string {
	faults.idp.t.Helper()
	var added struct{ ID string }
	faults.idp.Call("POST", "faults", merged(Fields{"endpoint": endpoint}, []Fields{fault}), &added)
	return added.ID
}

// List returns the active faults.
func (faults Faults) List() []Fields {
	faults.idp.t.Helper()
	var all []Fields
	faults.idp.Call("GET", "faults", nil, &all)
	return all
}

// Remove removes a fault.
func (faults Faults) Remove(id string) {
	faults.idp.t.Helper()
	faults.idp.Call("DELETE", "faults/"+url.PathEscape(id), nil, nil)
}

// Clear removes all faults.
func (faults Faults) Clear() {
	faults.idp.t.Helper()
	faults.idp.Call("DELETE", "faults", nil, nil)
}
