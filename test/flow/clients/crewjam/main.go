// A service provider with crewjam/saml. It makes a request, or reads the response that a browser posted: the input says which.
package main

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/crewjam/saml"
	"github.com/crewjam/saml/samlsp"
	dsig "github.com/russellhaering/goxmldsig"
)

type input struct {
	Metadata, EntityID, ACS, Key, Certificate, RelayState string
	SignRequest                                           bool
	// Of a response to read.
	SAMLResponse, RequestID string
	// Of a user to sign out, and the answer to that.
	LogoutNameID, LogoutResponse string
	WantMetadata                 bool
}

func must[T any](value T, err error) T {
	if err != nil {
		if invalid, ok := err.(*saml.InvalidResponseError); ok {
			err = invalid.PrivateErr
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func main() {
	var in input
	must(0, json.NewDecoder(os.Stdin).Decode(&in))
	pair := must(tls.X509KeyPair([]byte(in.Certificate), []byte(in.Key)))
	acs := must(url.Parse(in.ACS))
	sp := saml.ServiceProvider{
		EntityID:          in.EntityID,
		Key:               pair.PrivateKey.(crypto.Signer),
		Certificate:       must(x509.ParseCertificate(pair.Certificate[0])),
		AcsURL:            *acs,
		SloURL:            *must(acs.Parse("/slo")),
		IDPMetadata:       must(samlsp.ParseMetadata([]byte(in.Metadata))),
		AuthnNameIDFormat: saml.EmailAddressNameIDFormat,
		LogoutBindings:    []string{saml.HTTPPostBinding},
	}
	if in.SignRequest {
		sp.SignatureMethod = dsig.RSASHA256SignatureMethod
	}
	print := func(value any) { must(0, json.NewEncoder(os.Stdout).Encode(value)) }
	switch {
	case in.WantMetadata:
		print(string(must(xml.Marshal(sp.Metadata()))))
	case in.LogoutResponse != "":
		must(0, sp.ValidateLogoutResponseForm(in.LogoutResponse))
		print(true)
	case in.LogoutNameID != "":
		print(string(must(sp.MakePostLogoutRequest(in.LogoutNameID, in.RelayState))))
	case in.SAMLResponse != "":
		form := url.Values{"SAMLResponse": {in.SAMLResponse}}
		request := must(http.NewRequest("POST", in.ACS, strings.NewReader(form.Encode())))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		must(0, request.ParseForm())
		assertion := must(sp.ParseResponse(request, []string{in.RequestID}))
		attributes := map[string]string{}
		for _, attribute := range assertion.AttributeStatements[0].Attributes {
			attributes[attribute.Name] = attribute.Values[0].Value
		}
		print(map[string]any{"name": assertion.Subject.NameID.Value, "attributes": attributes})
	default:
		idp := sp.GetSSOBindingLocation(saml.HTTPRedirectBinding)
		request := must(sp.MakeAuthenticationRequest(idp, saml.HTTPRedirectBinding, saml.HTTPPostBinding))
		print(map[string]any{"id": request.ID, "url": must(request.Redirect(in.RelayState, &sp)).String()})
	}
}
