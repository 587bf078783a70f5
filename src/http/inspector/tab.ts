import { run } from "../../core/admin/operations/table.ts";
import type { Request, Response } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { OperationError, problemText } from "../../core/base/errors.ts";
import { fixtureFiles } from "../../core/admin/seed/apply.ts";
import { hashOf, sameSecret } from "../../core/base/secrets.ts";
import { showClock } from "../../core/base/clock.ts";
import { viewFor } from "../pages/reader.ts";
import { answerTo } from "../answer/error-answers.ts";
import { bodyParameters, every, queryParameters, single } from "../input/params.ts";
import { pageCommand, pageFix } from "../pages/commands.ts";
import { formatDuration, formatNumber, type Text } from "../pages/templates/texts.ts";
import { writerOf, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formPageHeaders } from "../answer/security-headers.ts";
import type { Web } from "../web.ts";
import { csrfOf, inspectorHref, mayHere, tabs, type Tab } from "./access.ts";
import { changeNamed, commandFor, operationOf, runner, type ChangeName } from "./changes.ts";
import { issuersView } from "./issuers.ts";
import { proposedValues } from "./lists.ts";

/** What the tabs have in common: their frame, their search, and what the last form did. */

/** How far a clock is moved: "2 hours ahead". */
export function clockWords({ plain, lang }: ReturnType<typeof writerOf>, offset: number): string {
  const distance = formatDuration(Math.abs(offset), lang);
  const key = offset === 0 ? "on-time" : offset > 0 ? "ahead" : "behind";
  return plain({ key: `inspector.clock-${key}`, values: { distance } });
}

/** The sentences of the banner. */
function bannerOf(writer: ReturnType<typeof writerOf>, banner: ReturnType<typeof bannerFor>): readonly string[] {
  if (banner === null) return [];
  const { plain, say, lang } = writer;
  const { offset, frozen, faults } = banner;
  const words = clockWords(writer, offset);
  return [
    ...(offset === 0 ? [] : [plain({ key: "inspector.banner-clock", values: { distance: words } })]),
    ...(frozen ? [say("inspector.banner-frozen")] : []),
    ...(faults === 0 ? [] : [plain({ key: "inspector.banner-faults", values: { count: formatNumber(faults, lang) } })]),
  ];
}

/** Shows a tab. @param refusal why its form was refused; null: no form was sent */
export type ShowTab = (web: Web, req: Request, res: Response, refusal: OperationError | null) => Promise<void>;

/** Below the inspector. */
export const changePath = "change";

/** A moved clock and active faults, which every tab shows; null without both. */
function bannerFor({ ctx }: Web) {
  const { offset, frozen } = showClock(ctx);
  const faults = ctx.faults.size;
  return offset === 0 && !frozen && faults === 0 ? null : { offset, frozen, faults };
}

/** What the forms of the tabs ask for, without the token that is verified. */
const typedFields = ["change", "target", "value", "username", "email", "displayName", "roles", "claims", "factors"];

const typedIn = (body: RawParameters): Readonly<Record<string, string>> =>
  Object.fromEntries(typedFields.map((name) => [name, every(body, name).join(" ")]));

/** What every tab shows. */
export type TabView = ReturnType<typeof tabView>;

export function tabView(web: Web, req: Request, res: Response, refusal: OperationError | null) {
  const view = viewFor(web, req, res);
  return {
    ...view,
    banner: bannerFor(web),
    /** Where the clock is moved and faults are removed. */
    testingHref: inspectorHref(web, tabs.testing),
    // The page that refuses a form is not at the address of its tab.
    keptQuery: refusal === null ? view.keptQuery : null,
    csrf: csrfOf(web, req),
    /** The path of the inspector. */
    href: inspectorHref(web),
    issuer: web.ctx.issuer,
    /** Opens the inspector again. */
    openCommand: pageCommand(web, ["idp", "open"]).command,
    issuers: issuersView(web),
    /** What the last form did, and the command that does the same; null: nothing was done just now. */
    done: refusal === null ? doneIn(web, req, view.lang) : null,
    /** The fields of the form that was refused, as they were typed; empty if none was. */
    typed: refusal === null ? {} : typedIn(bodyParameters(req)),
    /** Why it was refused. English. */
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
export async function namesIn({ ctx }: Web) {
  const users = await run(ctx, "users.list", { limit: proposedValues }, runner);
  const clients = await run(ctx, "clients.list", {}, runner);
  return {
    users: users.map(({ username }) => username),
    clients: clients.slice(0, proposedValues).map(({ client_id: id }) => id),
  };
}

/** The status of a tab that shows a refusal. */
export const statusFor = (web: Web, refusal: OperationError | null): number =>
  refusal === null ? 200 : answerTo(refusal, web.commandLine).status;

/** A form with one button. @param target what the form changes: a username, a client id */
export const changeView = (web: Web, name: ChangeName, target: string, value?: string) => ({
  kind: name,
  action: `${inspectorHref(web, changePath)}?change=${name}`,
  target,
  /** Whether the person who looks may do it; else it is not shown. */
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
function doneIn(web: Web, req: Request, lang: string) {
  const query = queryParameters(req);
  const [done = "", target = "", value = "", proof = ""] = ["done", "target", "value", "proof"].map((name) =>
    single(query, name),
  );
  const change = changeNamed(done);
  if (change === null || !sameSecret(proof, proofOf(csrfOf(web, req), done, target, value))) return null;
  return {
    text: { key: `inspector.done-${done}`, values: { target, value: change.words?.(value, lang) ?? value } },
    /** What a reset does with it; null: nothing. */
    later: change.isOfFixtures === true ? laterFor(web) : null,
    ...pageCommand(web, change.command(target, value)),
  };
}

/** The data for the templates of all tabs. */
export const tabData = (writer: ReturnType<typeof writerOf>, view: TabView, tab: Tab) => ({
  ...view,
  banner: bannerOf(writer, view.banner),
  tabs: Object.entries(tabs).map(([name, path]) => ({ name, href: view.href + path, current: name === tab })),
  refusedWords: writer.say(
    tab === "tokens" && (view.typed["change"] ?? "") === "" ? "inspector.not-checked" : "inspector.refused",
  ),
  doneText: view.done && [view.done.text, view.done.later ?? []].flat().map(writer.plain).join(" "),
});

/** @param content data for the template, besides the view */
export function tabPage(
  renderer: Renderer,
  view: TabView,
  tab: Tab,
  content: (writer: ReturnType<typeof writerOf>) => object,
  { headers = formPageHeaders, copies = false } = {},
): Page {
  const writer = writerOf(renderer, view);
  const heading = { name: "inspector", state: tab, title: writer.say(`inspector.tab-${tab}`), copies };
  return writer.page(`inspector/${tab}`, heading, { ...tabData(writer, view, tab), ...content(writer) }, headers);
}
