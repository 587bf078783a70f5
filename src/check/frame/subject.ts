/** What is checked, in the words of the output. */
export interface Subject {
  /** Of its command, and of its section of idp.check.yaml. */
  readonly name: string;
  /** "the app". */
  readonly it: string;
  /** The flag with its address is `--url`, so that IDP_URL names the server. */
  readonly takesUrl?: true;
  /** Its client signs in by SAML. Absent: by OpenID Connect. */
  readonly isSaml?: true;
  /** What a failed control means: "the app did not sign in". */
  readonly notWorking: string;
}
