import type { Request, Response } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import type { Context } from "../../core/context.ts";
import { expirable } from "../../core/testing/controls/expire.ts";
import { OperationError } from "../../core/base/errors.ts";
import { flowForm } from "../../core/testing/ledger/filter.ts";
import { run, perform } from "../../core/admin/operations/table.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { redirect } from "../answer/answer.ts";
import { performed } from "../api/api.ts";
import { queryParameters, single } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, writerOf, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formatNumber, type Text } from "../pages/templates/texts.ts";
import type { Web } from "../web.ts";
import { tabs, asAsked, changeOf, csrfOf, inspectorHref, mayHere, signInPath, type Tab } from "./access.ts";
import { changePath, proofOf, tabView, tabData, type ShowTab } from "./tab.ts";
import { changeNamed, commandFor, runner, type Change, type ChangeName } from "./changes.ts";
import { objectIn } from "./forms.ts";

/**
 * The form that changes something. What nobody can undo asks first, as its command does on a terminal: a page says what will be lost, and its
 * button does it.
 */

/** Says with a form that somebody has read what will be lost. */
const sure = "sure";

interface Question {
  readonly title: Text;
  readonly losses: readonly Text[];
}

const counted = (what: string, count: number): Text => ({ key: `inspector.lose-${what}`, values: { count } });

/** At most so many names are shown. */
const maxNames = 20;

const named = (what: string, names: readonly string[]): readonly Text[] => {
  const shown = names.length > maxNames ? [...names.slice(0, maxNames), "…"] : names;
  return names.length === 0 ? [] : [{ key: `inspector.lose-${what}`, values: { names: shown.join(", ") } }];
};

const fixed = (what: string): Text => ({ key: `inspector.lose-${what}`, values: {} });

async function countsOf(ctx: Context, user?: string): Promise<{ readonly sessions: number; readonly grants: number }> {
  const sessions = await run(ctx, "sessions.list", { user }, runner);
  const grants = await run(ctx, "grants.list", { user }, runner);
  return { sessions: sessions.length, grants: grants.filter(({ status }) => status === "active").length };
}

/** Null: this one needs no question. */
type Ask = (ctx: Context, target: string, value: string) => Promise<readonly Text[] | null>;

const asks: Readonly<Partial<Record<ChangeName, Ask>>> = {
  async ban(ctx, user) {
    const { sessions, grants } = await countsOf(ctx, user);
    return [counted("sessions", sessions), counted("grants", grants), fixed("for-good")];
  },
  async "remove-user"(ctx, user) {
    const { sessions, grants } = await countsOf(ctx, user);
    return [counted("sessions", sessions), counted("grants", grants), fixed("user-tokens")];
  },
  async expire(ctx, _, expiry) {
    const { all, sessions } = objectIn(expiry);
    if (all !== true) return null;
    return sessions === true ? [counted("sessions", (await countsOf(ctx)).sessions)] : [fixed("issued")];
  },
  async "restore-snapshot"(ctx) {
    const { sessions, grants } = await countsOf(ctx);
    return [counted("now-sessions", sessions), counted("now-grants", grants), fixed("restored")];
  },
  async reset(ctx) {
    const { sessions, grants } = await countsOf(ctx);
    const { records } = await run(ctx, "diff", {}, runner);
    const namesOf = (change: (typeof records)[number]["change"]): readonly string[] =>
      records.filter((one) => one.change === change).map(({ name }) => name);
    return [
      ...named("added", namesOf("added")),
      ...named("changed", namesOf("changed")),
      ...named("missing", namesOf("missing")),
      ...[counted("sessions", sessions), counted("grants", grants), fixed("all-tokens")],
    ];
  },
};

/** The title: what is asked. */
function titleOf(name: ChangeName, target: string, value: string): Text {
  const kind = name === "expire" ? expirable.find((one) => objectIn(value)[one] === true) : undefined;
  return { key: `inspector.sure-${name}${kind === undefined ? "" : `-${kind}`}`, values: { target } };
}

/** Numbers as the language writes them. */
const withNumbers = (text: Text, lang: string): Text =>
  typeof text === "string"
    ? text
    : {
        ...text,
        values: Object.fromEntries(
          Object.entries(text.values).map(([name, value]) => [
            name,
            typeof value === "number" ? formatNumber(value, lang) : value,
          ]),
        ),
      };

export function renderConfirm(renderer: Renderer, view: ConfirmView): Page {
  const writer = writerOf(renderer, view);
  const { title, losses } = view.question;
  const heading = { name: "inspector", state: "confirm", title: writer.plain(title) };
  const data = {
    ...tabData(writer, view, view.tab),
    losses: losses.map((loss) => writer.plain(withNumbers(loss, writer.lang))),
  };
  return writer.page("inspector/confirm", heading, data);
}

/** A change as somebody sent it. */
interface Sent {
  readonly name: ChangeName;
  readonly change: Change;
  readonly target: string;
  readonly value: string;
  readonly body: RawParameters;
}

/**
 * The question before a change; null: it needs none, somebody has answered it, or the person may not make the change.
 * @throws {OperationError} what the change would be refused for
 */
async function questionBefore(web: Web, { name, change, target, value, body }: Sent): Promise<Question | null> {
  if (single(body, sure) !== undefined || !mayHere(web, change.operation)) return null;
  const losses = (await asks[name]?.(web.ctx, target, value)) ?? null;
  return losses && { title: titleOf(name, target, value), losses };
}

/** The question before a change that loses something for good. */
export type ConfirmView = ReturnType<typeof confirmView>;

function confirmView(web: Web, req: Request, res: Response, sent: Sent, question: Question) {
  const { name, change, target, value, body } = sent;
  const fields = Object.keys(body).flatMap((field): [name: string, value: string][] => {
    const text = single(body, field);
    return field === "csrf" || text === undefined ? [] : [[field, text]];
  });
  return {
    ...tabView(web, req, res, null),
    /** The tab that has the form of the change. */
    tab: change.tab,
    question,
    kind: name,
    action: inspectorHref(web, `${changePath}?change=${name}`),
    /** What its form sends: again what was sent, with the answer. */
    fields: [...fields, [sure, "1"]],
    /** Leads away without a change. */
    backHref: inspectorHref(web, tabs[change.tab]),
    ...pageCommand(web, commandFor(name, target, value)),
  };
}

/** Leads to the tab that has the form of a change. */
export const getChange = (web: Web) => (req: Request, res: Response) => {
  const change = changeNamed(single(queryParameters(req), "change") ?? "");
  redirect(res, inspectorHref(web, tabs[change?.tab ?? "sign-ins"]));
};

/** Makes the change of a form or asks first, and redirects back to its tab, or to the sign-in whose fix it is. @param shows each tab, with the refusal */
export const postChange = (all: Web, shows: Readonly<Record<Tab, ShowTab>>) => async (req: Request, res: Response) => {
  const body = changeOf(all, req);
  const [name = "", target = "", list = "", flow = ""] = ["change", "target", "list", "flow"].map((field) =>
    single(body, field),
  );
  const change = changeNamed(name);
  const web = asAsked(all, req);
  const { operator } = web;
  if (operator === undefined) throw new InteractionError("csrf");
  if (change === null) throw new OperationError("usage", `there is no change "${name}"`);
  let value: string;
  try {
    value = (await change.read?.(body, web.ctx, target)) ?? single(body, "value")?.trim() ?? "";
    const sent = { name: name as ChangeName, change, target, value, body };
    const question = await questionBefore(web, sent);
    if (question !== null) {
      sendPage(res, 200, renderConfirm(web.renderer, confirmView(web, req, res, sent, question)));
      return;
    }
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
  const shown = change.withoutSecrets?.(value) ?? value;
  const done = { done: name, target, value: shown, proof: proofOf(csrfOf(web, req), name, target, shown) };
  const query = new URLSearchParams(list);
  for (const [field, text] of Object.entries(done)) query.set(field, text);
  const page = flowForm.test(flow) ? signInPath + flow : tabs[change.tab];
  redirect(res, `${inspectorHref(web, page)}?${query.toString()}`);
};
