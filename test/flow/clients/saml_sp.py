"""python3-saml in strict mode: reads the response that a browser posted, and prints whom it names."""
import json
import sys

from onelogin.saml2.auth import OneLogin_Saml2_Auth

given = json.load(sys.stdin)
request = {"https": "off", "http_host": given["host"], "script_name": given["path"], "get_data": {}, "post_data": given["post"]}
auth = OneLogin_Saml2_Auth(request, given["settings"])
auth.process_response(request_id=given.get("request_id"))
print(json.dumps({"errors": auth.get_errors(), "reason": auth.get_last_error_reason(), "name": auth.get_nameid(), "attributes": auth.get_attributes()}))
