import type { RequestFilter } from "../../core/testing/ledger/filter.ts";
import type { Command, Flags, FlagsOf, None } from "../commander.ts";

/** Flags that choose requests of the ledger. */
export const withRequestFilter = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command
    .option("--client <client_id>", "only requests of this client")
    .option("--user <username>", "only requests about this user")
    .option("--grant-type <type>", "only token requests with this grant_type")
    .option("--method <method>", "only requests with this method")
    .option("--status <status>", "only requests with this status: 400, or 4xx")
    .option("--flow <flow>", "only requests of the sign-in with this flow")
    .option("--since <request_id>", "only requests after this one, or after a time (ISO 8601)");

export type FilterFlags = FlagsOf<typeof withRequestFilter<[], None, None>>;

export const filterOf = ({ grantType, ...rest }: FilterFlags): RequestFilter => ({ ...rest, grant_type: grantType });
