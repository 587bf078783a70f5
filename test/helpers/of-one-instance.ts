/**
 * What `npm run test:instances` leaves out: these tests look at one process, or at a connection to it. Everything else of test/http and
 * test/flow passes with three instances behind a load balancer, in place of each server.
 */

interface Left {
  readonly file: string;
  /** Of the test; absent: of all in the file. */
  readonly name?: string;
  readonly why: string;
}

const memory =
  "it reads the issuers of a process that nothing was asked since: an instance follows the others as it answers";
const byFolder = "its commands find the server by the data folder; with a store they need --url";
const change = "the issuer of a shared store does not change while it is served";
const connection = "the load balancer ends the connection, and makes one of its own";

export const ofOneInstance: readonly Left[] = [
  {
    ...{ file: "test/http/one-time-codes.test.ts", why: "each instance counts the guesses that it got" },
    name: "wrong codes count as guesses",
  },
  {
    ...{ file: "test/http/expect.test.ts", why: "whether others came before a request that was dropped is not known" },
    name: "never and an exact count are not claimed, unless only others were dropped",
  },
  { file: "test/http/templates-check.test.ts", why: "each instance reads its own templates" },
  ...[
    "expired access token mid-session: it refreshes, and repeats the call",
    "refresh refused once: the user has to sign in again, and another refresh would pass",
    "slow token endpoint: it gives up after its own timeout, and a second try passes",
    "revoked mid-session: UserInfo answers 403, and the refresh is refused",
  ].map((name) => ({ file: "test/flow/browser/oidc-client-ts.test.ts", name, why: byFolder })),
  ...["disk", "one-folder", "clock-back"].map((file) => ({
    ...{ file: `test/flow/${file}.test.ts`, why: "it is about the data folder" },
  })),
  ...["leaver-guide", "readme", "mcp-guide", "saml-guide", "step-up-guide", "upgrade-guide"].map((name) => ({
    ...{ file: `test/flow/${name}.test.ts`, why: byFolder },
  })),
  {
    ...{ file: "test/flow/ci.test.ts", why: byFolder },
    name: "Tokens of workloads: the token of one takes the place of the client's secret",
  },
  {
    ...{ file: "test/flow/cross-app-guide.test.ts", why: byFolder },
    name: "a company and a tool: the agent acts for its user at the tool, and a flawed ID-JAG is refused",
  },
  {
    ...{ file: "test/flow/coding-agents-guide.test.ts", why: byFolder },
    name: "the skill shows ten commands, and each of them and of llms.txt runs",
  },
  { file: "test/flow/issuers-guide.test.ts", name: "the fixture file of the guide", why: byFolder },
  { file: "test/flow/resource-server.test.ts", why: "it ends one server, and starts it again" },
  {
    ...{ file: "test/flow/scim-interop.test.ts", why: "it ends one server, and starts it again" },
    name: "an idp that is killed in mid-push goes on where it was",
  },
  {
    ...{ file: "test/flow/issuers.test.ts", why: "it is about the data folder" },
    name: "kill -9 while issuers are added: confirmed ones are there, and each of them is complete",
  },
  ...["what the vendor's path follows", "the whole issuer"].map((name) => ({
    ...{ file: "test/http/layout.test.ts", name, why: change },
  })),
  {
    ...{ file: "test/http/snapshots.test.ts", why: "it measures a process, which three instances are in" },
    name: "1,000 users: a restore takes little longer than reading their records as JSON",
  },
  { file: "test/http/issuer-change.test.ts", why: change },
  { file: "test/http/openapi-input.test.ts", why: change },
  {
    ...{ file: "test/http/issuers.test.ts", why: memory },
    name: "a seed and other fixtures update the issuers that they name, and make those that are new",
  },
  {
    ...{ file: "test/http/issuers.test.ts", why: change },
    name: "a change of the address at any issuer moves every issuer",
  },
  {
    ...{ file: "test/http/layout.test.ts", why: memory },
    name: "the setting changes while the server runs: routes and issuer follow, and tokens end",
  },
  {
    ...{ file: "test/http/issuers.test.ts", why: "its data is in memory" },
    name: "an issuer is made at /i/NAME, with its own users; both kinds of metadata name it",
  },
  {
    ...{ file: "test/http/clock.test.ts", why: "the log is of one instance" },
    name: "while it is moved, each response says so, and status; the log says it at that moment",
  },
  {
    ...{ file: "test/http/reset.test.ts", why: "of two resets at two instances either may be the later one" },
    name: "of two concurrent resets the later one wins, however long the earlier one takes",
  },
  {
    ...{ file: "test/http/session.test.ts", why: "with a store, cookies are named after the port of the issuer" },
    name: "Secure for an https issuer, and below its path",
  },
  {
    ...{ file: "test/http/other-names.test.ts", why: "each instance says so once" },
    name: "discovery read at a name that the issuer does not have is told once per client",
  },
  {
    file: "test/http/other-names.test.ts",
    name: "https sent to the http port is told once per sender",
    why: connection,
  },
  // The balancer refuses the long request, so the table has a row less.
  ...["authorize: too long", "the table is as it is kept"].map((name) => ({
    ...{ file: "test/http/refusals/table.test.ts", name, why: connection },
  })),
  { file: "test/http/every-answer.test.ts", name: "both loopback addresses answer", why: connection },
  { file: "test/http/faults.test.ts", name: "--drop-after: a part of the body", why: connection },
  { file: "test/http/host-check.test.ts", name: "HTTP/1.0 may leave Host out, HTTP/1.1 may not", why: connection },
  {
    ...{ file: "test/http/registration.test.ts", why: connection },
    name: "too much metadata is refused, and so are too many registrations",
  },
];

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** Whole files, and a pattern of the names of tests that are not left out. */
export const leftOut = {
  exclude: [
    // They make instances of their own.
    "test/flow/shared/**",
    ...ofOneInstance.filter(({ name }) => name === undefined).map(({ file }) => file),
  ],
  testNamePattern: new RegExp(
    `^(?!.*(?:${ofOneInstance.flatMap(({ name }) => (name === undefined ? [] : [literally(name)])).join("|")})$)`,
  ),
};
