// Package idptest gives each test an OpenID Connect provider:
//
//	idp := idptest.New(t)
//
// It starts the command dev-idp and speaks its control API. Every method ends the test if the server refuses the call, so call them
// from the goroutine of the test.
package idptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Version is the version of the npm package that this module belongs to.
const Version = "0.1.0"

// Fields are the fields of a fixture, a fault or an expectation, or optional ones of a call, by their names in the control API.
type Fields map[string]any

// Idp is the issuer of one test. It has its own users, clients, keys, clock and faults.
type Idp struct {
	// Issuer is for discovery: http://localhost:41234/i/t1
	Issuer string
	// AdminToken opens the control API.
	AdminToken string
	Users      Users
	Clock      Clock
	Faults     Faults

	t testing.TB
}

// Client is a client of the fixtures. ClientSecret is empty for a public client.
type Client struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"client_secret"`
	RedirectURIs []string `json:"redirect_uris"`
	Scope        string   `json:"scope"`
	// SelfRegistered is true for a client that registered itself (RFC 7591), and MetadataDocument for one that nobody registered.
	SelfRegistered   bool `json:"self_registered"`
	MetadataDocument bool `json:"metadata_document"`
}

// Tokens is a token response.
type Tokens struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	IDToken      string `json:"id_token"`
	Scope        string `json:"scope"`
}

// Request is what the app asked, without its secrets. A field that does not apply is empty.
type Request struct {
	ID        string `json:"id"`
	Endpoint  string `json:"endpoint"`
	Method    string `json:"method"`
	Path      string `json:"path"`
	Status    int    `json:"status"`
	Client    string `json:"client"`
	User      string `json:"user"`
	GrantType string `json:"grant_type"`
	Outcome   string `json:"outcome"`
	Error     string `json:"error"`
	Rule      string `json:"rule"`
	Fix       string `json:"fix"`
	Fault     string `json:"fault"`
}

// An Option says which users and clients a test has. Without one, it has those of the idp.fixtures.yaml in the folder of the package,
// or else the demo.
type Option func(t testing.TB, body Fields)

// WithFixtures gives the issuer these fixtures.
func WithFixtures(fixtures Fields) Option {
	return func(_ testing.TB, body Fields) { body["fixtures"] = fixtures }
}

// WithFixtureFile gives the issuer the fixtures of a YAML or JSON file.
func WithFixtureFile(path string) Option {
	return func(t testing.TB, body Fields) {
		t.Helper()
		text, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		body["sources"] = []Fields{{"name": path, "text": string(text)}}
	}
}

// New makes an issuer for this test alone and removes it at the end. If the test fails, its log has the requests to the issuer.
func New(t testing.TB, options ...Option) *Idp {
	t.Helper()
	server, err := startOnce()
	if err != nil {
		t.Fatal(err)
	}
	first := issuerOf(t, server.issuer, server.adminToken)
	name := fmt.Sprintf("t%d", server.made.Add(1))
	body := Fields{"name": name}
	for _, option := range options {
		option(t, body)
	}
	var made struct{ Issuer string }
	first.Call("POST", "issuers", body, &made)
	idp := issuerOf(t, made.Issuer, server.adminToken)
	t.Cleanup(func() {
		t.Helper()
		if t.Failed() {
			t.Logf("Requests to idp:\n%s", idp.Ledger())
		}
		first.Call("DELETE", "issuers/"+name, nil, nil)
	})
	return idp
}

func issuerOf(t testing.TB, issuer, adminToken string) *Idp {
	idp := &Idp{Issuer: issuer, AdminToken: adminToken, t: t}
	idp.Users, idp.Clock, idp.Faults = Users{idp}, Clock{idp}, Faults{idp}
	return idp
}

// Call calls the control API. The path is below /_idp/api/; body and result may be nil.
func (idp *Idp) Call(method, path string, body, result any) {
	idp.t.Helper()
	if err := idp.call(method, path, body, result); err != nil {
		idp.t.Fatalf("idp: %v", err)
	}
}

func (idp *Idp) call(method, path string, body, result any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, idp.Issuer+"/_idp/api/"+path, sent)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+idp.AdminToken)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 400 {
		return refusal(response.StatusCode, text)
	}
	if result == nil || len(text) == 0 {
		return nil
	}
	return json.Unmarshal(text, result)
}

func refusal(status int, text []byte) error {
	var body struct {
		Description string `json:"error_description"`
		Hint        string
		Problems    []struct{ Path, Message string }
	}
	if json.Unmarshal(text, &body) != nil || body.Description == "" {
		return fmt.Errorf("status %d", status)
	}
	lines := []string{body.Description}
	for _, problem := range body.Problems {
		lines = append(lines, problem.Path+": "+problem.Message)
	}
	if body.Hint != "" {
		lines = append(lines, body.Hint)
	}
	return fmt.Errorf("%s", strings.Join(lines, "\n"))
}

// Clients returns all clients of the issuer.
func (idp *Idp) Clients() []Client {
	idp.t.Helper()
	var clients []Client
	idp.Call("GET", "clients?secrets=true", nil, &clients)
	return clients
}

// Client returns the client of the app: the first one with a redirect URI, else the first. None that registered itself counts.
func (idp *Idp) Client() Client {
	idp.t.Helper()
	clients := slices.DeleteFunc(idp.Clients(), func(client Client) bool {
		return client.SelfRegistered || client.MetadataDocument
	})
	if len(clients) == 0 {
		idp.t.Fatal("idp: this issuer has no client: add one to its fixtures")
	}
	for _, client := range clients {
		if len(client.RedirectURIs) > 0 {
			return client
		}
	}
	return clients[0]
}

// SignIn signs a user in at a client without a browser. It returns the URL at which the browser returns to the app, with code, state and
// iss. The fields scope, state, nonce, redirect_uri and code_challenge are what the app asked for.
func (idp *Idp) SignIn(clientID, username string, more ...Fields) string {
	idp.t.Helper()
	var issued struct{ URL string }
	idp.Call("POST", "issue/code", merged(Fields{"client": clientID, "user": username}, more), &issued)
	return issued.URL
}

// IssueTokens returns the token response of a sign-in. The fields scope and nonce are what the app asked for.
func (idp *Idp) IssueTokens(clientID, username string, more ...Fields) Tokens {
	idp.t.Helper()
	var tokens Tokens
	idp.Call("POST", "issue/tokens", merged(Fields{"client": clientID, "user": username}, more), &tokens)
	return tokens
}

// Revoke revokes the grants of a user at a client, as the user can on the account page. An empty string stands for all of them.
func (idp *Idp) Revoke(clientID, username string) {
	idp.t.Helper()
	selected := Fields{}
	if clientID != "" {
		selected["client"] = clientID
	}
	if username != "" {
		selected["user"] = username
	}
	idp.Call("POST", "revoke", selected, nil)
}

// Expect checks that the app made the right requests: idp.Expect("token", idptest.Fields{"grant_type": "refresh_token", "times": 1}).
// If it did not, the test fails with the nearest misses, and goes on.
func (idp *Idp) Expect(endpoint string, expectation ...Fields) bool {
	idp.t.Helper()
	var result struct {
		Met      bool
		Count    int
		Expected string
		Nearest  []struct {
			Request Request
			Differs []string
		}
	}
	idp.Call("POST", "expect", merged(Fields{"endpoint": endpoint}, expectation), &result)
	if result.Met {
		return true
	}
	lines := []string{fmt.Sprintf("not met: %s. The issuer got %d.", result.Expected, result.Count)}
	for _, near := range result.Nearest {
		lines = append(lines, line(near.Request))
		for _, differs := range near.Differs {
			lines = append(lines, "      "+differs)
		}
	}
	idp.t.Error("idp: " + strings.Join(lines, "\n"))
	return false
}

// Requests returns what the app asked, the oldest first.
func (idp *Idp) Requests() []Request {
	idp.t.Helper()
	var requests []Request
	idp.Call("GET", "requests", nil, &requests)
	return requests
}

// Ledger returns the requests as text.
func (idp *Idp) Ledger() string {
	var requests []Request
	if err := idp.call("GET", "requests", nil, &requests); err != nil {
		return "  They cannot be read: " + err.Error()
	}
	if len(requests) == 0 {
		return fmt.Sprintf("  The issuer %s got no requests.", idp.Issuer)
	}
	var lines []string
	for _, request := range requests {
		lines = append(lines, line(request))
		for _, note := range [][2]string{{"", request.Error}, {"rule: ", request.Rule}, {"fix: ", request.Fix}, {"fault: ", request.Fault}} {
			if note[1] != "" {
				lines = append(lines, "      "+note[0]+note[1])
			}
		}
	}
	return strings.Join(lines, "\n")
}

func line(request Request) string {
	words := []string{"  " + request.ID, request.Method, request.Endpoint, fmt.Sprint(request.Status)}
	for _, word := range []string{request.GrantType, request.Client, request.User} {
		if word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, "  ")
}

func merged(fields Fields, more []Fields) Fields {
	for _, others := range more {
		for name, value := range others {
			fields[name] = value
		}
	}
	return fields
}
