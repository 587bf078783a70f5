package idptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"
)

// SignedIn is what a browser holds of the app after a sign-in.
type SignedIn struct {
	Cookies []Cookie
}

// Cookie is a cookie as Playwright has it. Expires is in seconds since 1970, or -1 if it ends with the browser.
type Cookie struct {
	Name     string  `json:"name"`
	Value    string  `json:"value"`
	Domain   string  `json:"domain"`
	Path     string  `json:"path"`
	Expires  float64 `json:"expires"`
	HTTPOnly bool    `json:"httpOnly"`
	Secure   bool    `json:"secure"`
	SameSite string  `json:"sameSite"`
}

// StorageState is the JSON that Playwright takes as storageState.
func (signedIn SignedIn) StorageState() []byte {
	state, _ := json.Marshal(map[string]any{"cookies": signedIn.Cookies, "origins": []any{}})
	return state
}

// Header is the value of the header Cookie that a browser sends to an address; empty without cookies.
func (signedIn SignedIn) Header(address string) string {
	target, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if isLocal := target.Hostname() == "localhost" || target.Hostname() == "127.0.0.1" || target.Hostname() == "::1"; isLocal {
		// The loopback is as good as https.
		target.Scheme = "https"
	}
	var values []string
	for _, cookie := range signedIn.jar().Cookies(target) {
		values = append(values, cookie.Name+"="+cookie.Value)
	}
	return strings.Join(values, "; ")
}

func (signedIn SignedIn) jar() http.CookieJar {
	jar, _ := cookiejar.New(nil)
	for _, cookie := range signedIn.Cookies {
		host := strings.TrimPrefix(cookie.Domain, ".")
		kept := &http.Cookie{Name: cookie.Name, Value: cookie.Value, Path: cookie.Path, Secure: cookie.Secure}
		if host != cookie.Domain {
			kept.Domain = host
		}
		if cookie.Expires >= 0 {
			kept.Expires = time.Unix(int64(cookie.Expires), 0)
		}
		jar.SetCookies(&url.URL{Scheme: "https", Host: host, Path: cookie.Path}, []*http.Cookie{kept})
	}
	return jar
}

// SignInAt signs a user in at an app, as a person would in a browser, with the command sign-in. The start is the address behind the app's
// sign-in button, signedIn an address that only users may see; without it, the app's callback has to set or change a cookie.
func (idp *Idp) SignInAt(start, username string, signedIn ...string) SignedIn {
	idp.t.Helper()
	words, err := findCommand()
	if err != nil {
		idp.t.Fatal("idp: ", err)
	}
	words = append(words, "sign-in", "--json", "--url="+idp.Issuer, "--start="+start, "--user="+username)
	for _, address := range signedIn {
		words = append(words, "--signed-in="+address)
	}
	command := exec.Command(words[0], words[1:]...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "IDP_STORE=") && !strings.HasPrefix(variable, "IDP_DATA=") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "IDP_ADMIN_TOKEN="+idp.AdminToken)
	var output, said bytes.Buffer
	command.Stdout, command.Stderr = &output, &said
	if err := command.Run(); err != nil {
		idp.t.Fatal("idp: ", refusalIn(said.Bytes(), err))
	}
	var result SignedIn
	if err := json.Unmarshal(output.Bytes(), &result); err != nil {
		idp.t.Fatal("idp: ", err)
	}
	return result
}

// The words of a command that failed with --json.
func refusalIn(said []byte, failed error) string {
	var refused struct {
		Error struct{ Message, Hint string }
	}
	if json.Unmarshal(said, &refused) != nil || refused.Error.Message == "" {
		return fmt.Sprintf("%v: %s", failed, said)
	}
	return strings.TrimSpace(refused.Error.Message + "\n" + refused.Error.Hint)
}
