import type { Request, Response } from "express";
import type { RawParameters } from "../../core/authorize/parameters.ts";
import { OperationError, problemText } from "../../core/errors.ts";
import { operations } from "../../core/operations/table.ts";
import { fixtureFiles } from "../../core/seed/apply.ts";
import { hashOf, sameSecret } from "../../core/secrets.ts";
import { showClock } from "../../core/clock.ts";
import { answerTo } from "../answer/error-answers.ts";
import { bodyParameters, every, queryParameters, single } from "../input/params.ts";
import { pageCommand, pageFix } from "../pages/commands.ts";
import { viewFor } from "../pages/reader.ts";
import type { Text } from "../pages/templates/texts.ts";
import type { Web } from "../web.ts";
import { csrfOf, inspectorHref, mayHere } from "./access.ts";
import { changeNamed, commandFor, operationOf, runner, type ChangeName } from "./changes.ts";
import { issuersView } from "./issuers.ts";
import { proposedValues } from "./lists.ts";
import { tabs } from "./tabs.ts";
import type { ChangeView, NamesView, TabView } from "./views.ts";

/** What the tabs have in common: their frame, their search, and what the last form did. */

/** Shows a tab. @param refusal why its form was refused; null: no form was sent */
export type ShowTab = (web: Web, req: Request, res: Response, refusal: OperationError | null) => Promise<void>;

/** Below the inspector. */
export const changePath = "change";

function bannerFor({ ctx }: Web): TabView["banner"] {
  const { offset, frozen } = showClock(ctx);
  const faults = ctx.faults.size;
  return offset === 0 && !frozen && faults === 0 ? null : { offset, frozen, faults };
}

/** What the forms of the tabs ask for, without the token that is verified. */
const typedFields = ["change", "target", "value", "username", "email", "displayName", "roles", "claims", "factors"];

const typedIn = (body: RawParameters): TabView["typed"] =>
  Object.fromEntries(typedFields.map((name) => [name, every(body, name).join(" ")]));

export function tabView(web: Web, req: Request, res: Response, refusal: OperationError | null): TabView {
  const view = viewFor(web, req, res);
  return {
    ...view,
    banner: bannerFor(web),
    testingHref: inspectorHref(web, tabs.testing),
    // The page that refuses a form is not at the address of its tab.
    keptQuery: refusal === null ? view.keptQuery : null,
    csrf: csrfOf(web, req),
    href: inspectorHref(web),
    issuer: web.ctx.issuer,
    issuers: issuersView(web),
    done: refusal === null ? doneIn(web, req, view.lang) : null,
    typed: refusal === null ? {} : typedIn(bodyParameters(req)),
    refused: refusal && {
      message: refusal.summary,
      problems: refusal.problems.map(problemText),
      fix: refusal.hint && hintLine(pageFix(web, refusal.hint)),
    },
  };
}

const hintLine = ({ advice, fix }: ReturnType<typeof pageFix>): string =>
  [advice, fix].filter((part) => part !== null).join(" ");

/** The names that forms propose. */
export async function namesIn({ ctx }: Web): Promise<NamesView> {
  const users = await operations["users.list"].run(ctx, { limit: proposedValues }, runner);
  const clients = await operations["clients.list"].run(ctx, {}, runner);
  return {
    users: users.map(({ username }) => username),
    clients: clients.slice(0, proposedValues).map(({ client_id: id }) => id),
  };
}

/** The status of a tab that shows a refusal. */
export const statusFor = (web: Web, refusal: OperationError | null): number =>
  refusal === null ? 200 : answerTo(refusal, web.commandLine).status;

export const changeView = (web: Web, name: ChangeName, target: string, value?: string): ChangeView => ({
  kind: name,
  action: `${inspectorHref(web, changePath)}?change=${name}`,
  target,
  allowed: mayHere(web, operationOf(name)),
  ...pageCommand(web, commandFor(name, target, value)),
});

/** A proof for one session. Without it, anybody could write an address that claims that something was done. */
export const proofOf = (csrf: string, ...done: readonly string[]): string => hashOf([csrf, ...done].join("\n"));

/** What is left to do for a change that fixtures could make too. */
function laterFor({ ctx }: Web): Text {
  const files = fixtureFiles(ctx);
  return files.length === 0
    ? { key: "inspector.until-reset", values: {} }
    : { key: "inspector.not-in-file", values: { files: files.join(", ") } };
}

/** What the last form did, according to the address. */
function doneIn(web: Web, req: Request, lang: string): TabView["done"] {
  const query = queryParameters(req);
  const [done = "", target = "", value = "", proof = ""] = ["done", "target", "value", "proof"].map((name) =>
    single(query, name),
  );
  const change = changeNamed(done);
  if (change === null || !sameSecret(proof, proofOf(csrfOf(web, req), done, target, value))) return null;
  return {
    text: { key: `inspector.done-${done}`, values: { target, value: change.words?.(value, lang) ?? value } },
    later: change.isOfFixtures === true ? laterFor(web) : null,
    ...pageCommand(web, change.command(target, value)),
  };
}
