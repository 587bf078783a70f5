import { nothing, type Result } from "./result.ts";
import { requestTokens, type SignIn } from "./tokens.ts";

/** Tokens for the client itself (RFC 6749 4.4). @param scope null for the default of the provider */
export async function clientCredentialsFlow(run: SignIn, scope: string | null): Promise<Result> {
  const parameters = { grant_type: "client_credentials", ...(scope !== null && { scope }) };
  return { ...nothing, tokens: await requestTokens(run, parameters, "client credentials exchanged") };
}
