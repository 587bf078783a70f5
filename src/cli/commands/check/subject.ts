/** What is checked, in the words of the output. */
export interface Subject {
  readonly command: "check client" | "check api" | "check sp";
  /** "the app". */
  readonly it: string;
  /** "the app did not notice 2 wrong responses": what one of them is called. */
  readonly wrong: string;
  /** What a failed control means: "the app did not sign in". */
  readonly notWorking: string;
}

/** The app as a service provider of SAML. */
export const theSp: Subject = {
  command: "check sp",
  it: "the app",
  wrong: "wrong message",
  notWorking: "the app did not sign in",
};

export const theApi: Subject = {
  command: "check api",
  it: "the API",
  wrong: "wrong request",
  notWorking: "the API did not let a good token in",
};

export const theApp: Subject = {
  command: "check client",
  it: "the app",
  wrong: "wrong response",
  notWorking: "the app did not sign in",
};
