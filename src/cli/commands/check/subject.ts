import { count } from "../../output/words.ts";

/** What is checked, in the words of the output. */
export interface Subject {
  readonly command: "check client" | "check api" | "check sp" | "check scim" | "check leaver";
  /** "the app". */
  readonly it: string;
  /** "the app did not notice 2 wrong responses". @param open how many cases are unnoticed, and not accepted */
  readonly missed: (open: number) => string;
  /** What a failed control means: "the app did not sign in". */
  readonly notWorking: string;
}

/** The app as a service provider of SAML. */
export const theSp: Subject = {
  command: "check sp",
  it: "the app",
  missed: (open) => `the app did not notice ${count(open, "wrong message")}`,
  notWorking: "the app did not sign in",
};

export const theApi: Subject = {
  command: "check api",
  it: "the API",
  missed: (open) => `the API did not notice ${count(open, "wrong request")}`,
  notWorking: "the API did not let a good token in",
};

export const theApp: Subject = {
  command: "check client",
  it: "the app",
  missed: (open) => `the app did not notice ${count(open, "wrong response")}`,
  notWorking: "the app did not sign in",
};

export const theScimApp: Subject = {
  command: "check scim",
  it: "the app",
  missed: (open) => `the app does not do what SCIM asks for in ${open}`,
  notWorking: "the app did not create, show and remove a user",
};

export const theLeaverApp: Subject = {
  command: "check leaver",
  it: "the app",
  missed: (open) => `the app does not lock the person out in ${open}`,
  notWorking: "the app did not sign in",
};
