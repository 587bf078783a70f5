package idptest_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"dev-idp/idptest"
)

// The tests of a project of its own, as users have it: the example of the README, and what fails.
const failing = `package app

import (
	"net/http"
	"os"
	"syscall"
	"testing"

	"dev-idp/idptest"
)

func TestAsks(t *testing.T) {
	t.Parallel()
	idp := idptest.New(t)
	response, err := http.Get(idp.Issuer + "/api/v2/oauth/userinfo")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	idp.Expect("userinfo", idptest.Fields{"status": 200})
}

func TestAsksNothing(t *testing.T) {
	t.Parallel()
	idp := idptest.New(t, idptest.WithFixtures(idptest.Fields{"users": []idptest.Fields{{"username": "erin"}}}))
	idp.IssueTokens("shop", "erin")
}

func TestKilled(t *testing.T) {
	idp := idptest.New(t)
	if err := os.WriteFile("issuer", []byte(idp.Issuer), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}
`

var project string

func TestMain(m *testing.M) {
	code := 1
	if err := buildProject(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(project)
	os.Exit(code)
}

func buildProject() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return err
	}
	if project, err = os.MkdirTemp("", "idptest"); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"go.mod":          "module app\n\ngo 1.22\n\nrequire dev-idp/idptest v0.1.0\n\nreplace dev-idp/idptest => " + here + "\n",
		"failing_test.go": failing,
		"example_test.go": string(regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)[1]),
	} {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	build := exec.Command("go", "test", "-c", "-o", "app.test")
	build.Dir = project
	if text, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}

// Runs tests of the project, without go, which would need more on PATH.
func run(t *testing.T, tests string, env ...string) (output string, failed error) {
	t.Helper()
	command := exec.Command("./app.test", "-test.run", tests)
	command.Dir, command.Env = project, append(os.Environ(), env...)
	text, failed := command.CombinedOutput()
	return string(text), failed
}

func expectAll(t *testing.T, output string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(output, part) {
			t.Errorf("no %q in:\n%s", part, output)
		}
	}
}

func TestExampleOfTheReadme(t *testing.T) {
	t.Parallel()
	if output, failed := run(t, "TestAlice"); failed != nil || !strings.Contains(output, "PASS") {
		t.Error(output)
	}
}

func TestEachTestHasAnIssuerOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"one", "two", "three", "four"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			idp := idptest.New(t)
			idp.Users.Add("erin", idptest.Fields{"email": "erin@example.com"})
			idp.Clock.Advance(31 * time.Minute)
			if requests := idp.Requests(); len(requests) != 0 {
				t.Error(requests)
			}
		})
	}
}

func TestTheClientOfTheAppDidNotRegisterItself(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "worker.yaml")
	worker := "{ client_id: worker, client_secret: s, grant_types: [client_credentials] }"
	text := "settings: { mcp: true }\nclients: [" + worker + "]"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	idp := idptest.New(t, idptest.WithFixtureFile(file))
	body := strings.NewReader(`{"redirect_uris":["https://evil.test/cb"]}`)
	if _, err := http.Post(idp.Issuer+"/api/v2/oauth/register", "application/json", body); err != nil {
		t.Fatal(err)
	}
	if all := len(idp.Clients()); all != 2 {
		t.Error(all)
	}
	if client := idp.Client(); client.ClientID != "worker" {
		t.Error(client)
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shop.yaml")
	text := "users: [{ username: erin }]\nclients: [{ client_id: shop, redirect_uris: ['http://localhost/cb'] }]"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	idp := idptest.New(t, idptest.WithFixtureFile(file))
	if client := idp.Client(); client.ClientID != "shop" || client.ClientSecret != "" {
		t.Error(client)
	}
	challenge := strings.Repeat("a", 43)
	if url := idp.SignIn("shop", "erin", idptest.Fields{"code_challenge": challenge}); !strings.HasPrefix(url, "http://localhost/cb?code=") {
		t.Error(url)
	}
	idp.Users.Suspend("erin")
	if user := idp.Users.Show("erin"); user.Status != "suspended" {
		t.Error(user)
	}
	idp.Users.Restore("erin")
	idp.Users.Edit("erin", idptest.Fields{"displayName": "Erin"})
	idp.Users.Ban("erin")
	if users := idp.Users.List(); len(users) != 1 || users[0].DisplayName != "Erin" {
		t.Error(users)
	}
	idp.Users.Remove("erin")
	id := idp.Faults.Add("token", idptest.Fields{"flaw": "nonce-wrong"})
	if faults := idp.Faults.List(); len(faults) != 1 || faults[0]["id"] != id {
		t.Error(faults)
	}
	idp.Faults.Remove(id)
	idp.Faults.Clear()
	idp.Clock.Freeze()
	then := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	if now := idp.Clock.Set(then); !now.Equal(then) {
		t.Error(now)
	}
	idp.Clock.Reset()
	if now := idp.Clock.Now(); now.Year() == 2030 {
		t.Error(now)
	}
}

func TestFailedTestShowsItsRequests(t *testing.T) {
	t.Parallel()
	output, failed := run(t, "TestAsks")
	if failed == nil {
		t.Error("no test failed")
	}
	expectAll(t, output, "Requests to idp:", "r1  GET  userinfo  401", "missing_token: ", "status is 401, not 200", "got no requests",
		`no client "shop"`)
}

func TestNoServerSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ command, path, said string }{
		{"no-such-command", os.Getenv("PATH"), `DEV_IDP is "no-such-command", but there is no command "no-such-command"`},
		{"sh -c 'echo >&2 $*; exit 3' sh", os.Getenv("PATH"), "did not start a server. It wrote: start --memory --port 0"},
		{"", "/nowhere", "npm install --save-dev dev-idp"},
	} {
		output, failed := run(t, "TestAsks$", "DEV_IDP="+one.command, "PATH="+one.path)
		if failed == nil {
			t.Errorf("%q started a server", one.command)
		}
		expectAll(t, output, one.said)
	}
}

func TestNoServerOutlivesAKilledTestProcess(t *testing.T) {
	t.Parallel()
	_, failed := run(t, "TestKilled")
	var exit *exec.ExitError
	if !errors.As(failed, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatal(failed)
	}
	issuer, err := os.ReadFile(filepath.Join(project, "issuer"))
	if err != nil {
		t.Fatal(err)
	}
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); {
		response, err := http.Get(string(issuer) + "/_idp/health")
		if err != nil {
			return
		}
		response.Body.Close()
	}
	t.Error("the server still answers")
}

func TestSignInAt(t *testing.T) {
	idp := idptest.New(t)
	var app *httptest.Server
	app = httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		cookie, err := request.Cookie("sid")
		switch {
		case request.URL.Path == "/me" && err == nil && cookie.Value == "1":
			response.WriteHeader(http.StatusOK)
		case request.URL.Path == "/callback":
			http.SetCookie(response, &http.Cookie{Name: "sid", Value: "1", HttpOnly: true})
			http.Redirect(response, request, "/me", http.StatusFound)
		default:
			asked := url.Values{"client_id": {"app"}, "response_type": {"code"}, "scope": {"openid"}, "redirect_uri": {app.URL + "/callback"}}
			asked.Set("code_challenge", strings.Repeat("a", 43))
			asked.Set("code_challenge_method", "S256")
			http.Redirect(response, request, idp.Issuer+"/api/v2/oauth/authorize?"+asked.Encode(), http.StatusFound)
		}
	}))
	defer app.Close()
	idp.Call("POST", "clients", idptest.Fields{"client_id": "app", "redirect_uris": []string{app.URL + "/callback"}}, nil)
	signedIn := idp.SignInAt(app.URL+"/login", "alice", app.URL+"/me")
	if header := signedIn.Header(app.URL + "/me"); header != "sid=1" {
		t.Errorf("the header is %q", header)
	}
	if header := signedIn.Header("http://example.test/"); header != "" {
		t.Errorf("another host gets %q", header)
	}
	if !strings.Contains(string(signedIn.StorageState()), `"sid"`) {
		t.Errorf("the state is %s", signedIn.StorageState())
	}
}
