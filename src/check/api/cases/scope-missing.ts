import { noticed, unnoticed, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { answered, challengesOf, judged } from "../judge.ts";

/** Only with `--needs-scope`. */
export const scopeMissing: Case<Attempt> = {
  name: "scope-missing",
  mustNot: "a token without the scope lets a request in",
  should: 'answer 403 with WWW-Authenticate: Bearer error="insufficient_scope"',
  paragraph: "RFC 6750 3.1",
  fix: "compare scope of the token with what the request needs, and say insufficient_scope",
  async run(attempt) {
    const rest = attempt.control.scope.split(" ").filter((scope) => scope !== attempt.api.needsScope);
    const reply = await attempt.send(await attempt.token({ scope: rest.length === 0 ? "openid" : rest.join(" ") }));
    const found = judged(reply, ({ status }) => (status === 403 ? null : "403 insufficient_scope"));
    if (found.verdict !== "noticed") return found;
    return challengesOf(reply).some(({ parameters }) => parameters.get("error") === "insufficient_scope")
      ? noticed(answered(reply))
      : unnoticed("answered 403 without error=insufficient_scope in WWW-Authenticate", {
          mustNot: "the refusal does not say that a scope is missing",
        });
  },
};
