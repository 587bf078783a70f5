import type { Request, Response } from "express";
import type { RawParameters } from "../../core/authorize/parameters.ts";
import { OperationError, problemText } from "../../core/errors.ts";
import { perform } from "../../core/operations/table.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { performed } from "../api/api.ts";
import { fixtureFiles } from "../../core/seed/in-use.ts";
import { hashOf, sameSecret } from "../../core/secrets.ts";
import { showClock } from "../../core/clock.ts";
import { flowForm } from "../../core/ledger/filter.ts";
import { answerTo } from "../answer/error-answers.ts";
import { redirect } from "../answer/answer.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { pageCommand, pageFix } from "../pages/commands.ts";
import { viewFor } from "../pages/reader.ts";
import type { Text } from "../pages/templates/texts.ts";
import type { Web } from "../web.ts";
import { asAsked, changeOf, csrfOf, inspectorHref, mayHere, signInPath } from "./access.ts";
import { changeNamed, commandFor, operationOf, type ChangeName } from "./changes.ts";
import { issuersView } from "./issuers.ts";
import { tabs, type Tab } from "./tabs.ts";
import type { ChangeView, TabView } from "./views.ts";

/** What the tabs have in common: their frame, their search, and the form that changes something. */

/** How many rows of a list are shown. */
export const shownRows = 100;

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
const typedFields = ["change", "target", "value", "username", "email", "displayName", "roles", "claims"];

const typedIn = (body: RawParameters): TabView["typed"] =>
  Object.fromEntries(typedFields.map((name) => [name, single(body, name) ?? ""]));

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

/** The status of a tab that shows a refusal. */
export const statusFor = (web: Web, refusal: OperationError | null): number =>
  refusal === null ? 200 : answerTo(refusal, web.commandLine).status;

/** The search text: from the address, or from the page whose form was refused. */
export const searchOf = (req: Request, body: RawParameters = {}): string =>
  (single(queryParameters(req), "q") ?? single(body, "q") ?? "").trim();

/** Whether a text is found in one of the values, without regard to the case of ASCII letters. */
export const matches = (query: string, ...values: readonly string[]): boolean => {
  const wanted = query.toLowerCase();
  return values.some((value) => value.toLowerCase().includes(wanted));
};

export const changeView = (web: Web, name: ChangeName, target: string, value?: string): ChangeView => ({
  kind: name,
  action: `${inspectorHref(web, changePath)}?change=${name}`,
  target,
  allowed: mayHere(web, operationOf(name)),
  ...pageCommand(web, commandFor(name, target, value)),
});

/** A proof for one session. Without it, anybody could write an address that claims that something was done. */
const proofOf = (csrf: string, ...done: readonly string[]): string => hashOf([csrf, ...done].join("\n"));

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

/** Leads to the tab that has the form of a change. */
export const getChange = (web: Web) => (req: Request, res: Response) => {
  const change = changeNamed(single(queryParameters(req), "change") ?? "");
  redirect(res, inspectorHref(web, tabs[change?.tab ?? "sign-ins"]));
};

/** Makes the change of a form, and redirects back to its tab, or to the sign-in whose fix it is. @param shows each tab, with the refusal */
export const postChange = (all: Web, shows: Readonly<Record<Tab, ShowTab>>) => async (req: Request, res: Response) => {
  const body = changeOf(all, req);
  const [name = "", target = "", q = "", flow = ""] = ["change", "target", "q", "flow"].map((field) =>
    single(body, field),
  );
  const change = changeNamed(name);
  const web = asAsked(all, req);
  const { operator } = web;
  if (operator === undefined) throw new InteractionError("csrf");
  if (change === null) throw new OperationError("usage", `there is no change "${name}"`);
  let value: string;
  try {
    value = change.read?.(body) ?? single(body, "value")?.trim() ?? "";
    const runner = { server: null, by: operator };
    await change.run(
      (asked, input) =>
        performed(web, { name: asked, input, by: operator, status: 200 }, () => perform(web.ctx, asked, input, runner)),
      ...([target, value] as const),
    );
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    await shows[change.tab](web, req, res, error);
    return;
  }
  const proof = proofOf(csrfOf(web, req), name, target, value);
  const query = new URLSearchParams({ ...(q !== "" && { q }), done: name, target, value, proof });
  const page = flowForm.test(flow) ? signInPath + flow : tabs[change.tab];
  redirect(res, `${inspectorHref(web, page)}?${query.toString()}`);
};
