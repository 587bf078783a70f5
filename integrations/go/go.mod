module dev-idp/idptest

go 1.22
