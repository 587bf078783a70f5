import { noticed, notReached, unnoticed, works, type Case, type Finding } from "../../frame/verdict.ts";
import type { Reply } from "../../../client/http.ts";
import type { Attempt } from "../attempt.ts";
import type { Owner } from "../control.ts";
import { answered, judged, letsIn } from "../judge.ts";

/** Only with `--owned-url`: one user asks for what belongs to another one (OWASP API1). */

const hint = "give --user and --other-user, two users of the fixtures without special rights";

/** Whether a body names somebody. */
const names = ({ text }: Reply, { sub, username, email }: Owner): boolean =>
  [sub, username, email].some((name) => name !== null && name.length > 2 && text.includes(name));

/** What the answer to the wrong user says. @param own what each user gets at the own address */
function judgedOther(reply: Reply, owner: Owner, own: { readonly caller: Reply; readonly owner: Reply }): Finding {
  if (!letsIn(reply)) {
    const found = judged(reply, ({ status }) => ([400, 401, 403, 404].includes(status) ? null : "403 or 404"));
    if (found.verdict !== "noticed" || reply.status === 403 || reply.status === 404) return found;
    return noticed(`${answered(reply)}; 403 or 404 says what is wrong`);
  }
  const isOwners = reply.text === own.owner.text && reply.text !== own.caller.text;
  const namesOwner = names(reply, owner) && !names(own.caller, owner);
  if (isOwners || namesOwner) return unnoticed(`let it in: ${answered(reply)} with what belongs to ${owner.username}`);
  return notReached(`${answered(reply)}, and nothing in it says whose it is`);
}

export const otherUser: Case<Attempt> = {
  name: "other-user",
  mustNot: "the token of one user lets a request in for what belongs to another user",
  should: "answer 403 or 404",
  paragraph: "ASVS 5.0 10.3.2, OWASP API1:2023",
  fix: "compare the owner of what is asked for with sub of the token, in the query itself: where owner = $sub",
  async run(attempt) {
    const users = await attempt.control.owners();
    if (users === null) return notReached(`there is only one user: ${hint}`);
    const [caller, owner] = users;
    const [callers, owners] = [
      await attempt.token({ user: caller.username }),
      await attempt.token({ user: owner.username }),
    ];
    const own = {
      caller: await attempt.send(callers, { url: attempt.owned(caller) }),
      owner: await attempt.send(owners, { url: attempt.owned(owner) }),
    };
    for (const [reply, { username }] of [
      [own.caller, caller],
      [own.owner, owner],
    ] as const) {
      if (letsIn(reply)) continue;
      const why = reply.status === 404 ? `: ${hint}` : "";
      return notReached(`${username} is not let in at the own address: the API ${answered(reply)}${why}`);
    }
    return judgedOther(await attempt.send(callers, { url: attempt.owned(owner) }), owner, own);
  },
};

/** The audience in a list (RFC 7519 4.1.3). */
export const audList: Case<Attempt> = {
  name: "aud-list",
  mustNot: "a good token whose aud is a list with the audience alone is refused",
  should: "let it in: aud is a text or a list",
  paragraph: "RFC 7519 4.1.3, RFC 9068 4",
  fix: "look for the audience in aud where it is a list, as libraries do",
  async run(attempt) {
    const audience = await attempt.audience();
    const reply = await attempt.send(await attempt.token({ audience: [audience].flat() }));
    return letsIn(reply) ? works(answered(reply)) : unnoticed(`${answered(reply)} to a good token`);
  },
};
