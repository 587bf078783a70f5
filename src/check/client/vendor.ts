import type { Attempt } from "./attempt.ts";
import { notReached, type Finding } from "../frame/verdict.ts";

/** What an issuer with the endpoints of GitHub does not have, so that no app can be asked about it. Null: this one has it. */
export const withoutOpenId = ({ control }: Pick<Attempt, "control">): Finding | null =>
  new URL(control.issuer).pathname.endsWith("/login/oauth")
    ? notReached("GitHub is OAuth 2.0 without OpenID Connect: there is no ID token, no key and no discovery")
    : null;
