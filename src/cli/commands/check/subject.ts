import { count } from "../../output/words.ts";

/** What is checked, in the words of the output. */
export interface Subject {
  /** Of its command, and of its section of idp.check.yaml. */
  readonly name: "client" | "api" | "sp" | "scim" | "leaver";
  /** "the app". */
  readonly it: string;
  /** The flag with its address is `--url`, so that IDP_URL names the server. */
  readonly takesUrl?: true;
  /** "the app did not notice 2 wrong responses". @param open how many cases are unnoticed, and not accepted */
  readonly missed: (open: number) => string;
  /** What a failed control means: "the app did not sign in". */
  readonly notWorking: string;
}

/** The app as a service provider of SAML. */
export const theSp: Subject = {
  name: "sp",
  it: "the app",
  missed: (open) => `the app did not notice ${count(open, "wrong message")}`,
  notWorking: "the app did not sign in",
};

export const theApi: Subject = {
  name: "api",
  it: "the API",
  takesUrl: true,
  missed: (open) => `the API did not notice ${count(open, "wrong request")}`,
  notWorking: "the API did not let a good token in",
};

export const theApp: Subject = {
  name: "client",
  it: "the app",
  missed: (open) => `the app did not notice ${count(open, "wrong response")}`,
  notWorking: "the app did not sign in",
};

export const theScimApp: Subject = {
  name: "scim",
  it: "the app",
  takesUrl: true,
  missed: (open) => `the app does not do what SCIM asks for in ${open}`,
  notWorking: "the app did not create, show and remove a user",
};

export const theLeaverApp: Subject = {
  name: "leaver",
  it: "the app",
  missed: (open) => `the app does not lock the person out in ${open}`,
  notWorking: "the app did not sign in",
};
