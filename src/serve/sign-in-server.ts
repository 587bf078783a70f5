import type { OperationName } from "../core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../core/admin/operations/table.ts";

/** What a running server does for a program that signs a user in at an app: its operations, of the command and of the library alike. */

export type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>;

interface OfSignIn {
  readonly issuer: string;
  otp(user: string): Promise<OperationOutput<"users.otp">>;
  begin(user: string, uid: string, csrf: string): Promise<string>;
  requests(since: string | undefined): Promise<OperationOutput<"requests.list">>;
}

export const signInServerOf = (issuer: string, call: Call): OfSignIn => ({
  issuer,
  otp: (username) => call("users.otp", { username }),
  begin: async (user, uid, csrf) => (await call("sessions.begin", { user, sign_in: uid, csrf })).cookie,
  requests: (since) => call("requests.list", { since, parts: true }),
});
