import type { Request, Response } from "express";
import type { Hint } from "../../../core/base/hint.ts";
import type { KeptRequest, Ledger } from "../../../core/testing/ledger/ledger.ts";
import { fixOf } from "../../../core/testing/ledger/repair.ts";
import { operations, type OperationName } from "../../../core/admin/operations/routes.ts";
import { HttpError } from "../../answer/error-answers.ts";
import { fixParts, plainPageCommand, type FixParts } from "../../pages/commands.ts";
import { sendPage, writerOf, type Page } from "../../pages/page-writer.ts";
import type { Renderer } from "../../pages/templates/render.ts";
import { formatMoment, formatNumber, timeZoneHere } from "../../pages/templates/texts.ts";
import { issuerUrl, type Web } from "../../web.ts";
import { asAsked, inspectorHref, mayHere, signInPath, tabs } from "../access.ts";
import { changeView, clockWords, tabData, tabView } from "../tab.ts";
import { failureOf, flowsOf, rowOf, type Flow } from "./flows.ts";
import { headersFor, outcomeWords, refusedWords, script, stoppedWords } from "./sign-in-words.ts";
import { stepsOf } from "./steps.ts";
import { streamPath } from "./stream.ts";

/** The sequence of one sign-in. */

/** What operators did between the first and the last request of a sign-in. */
function actsIn({ records }: Flow, ledger: Ledger) {
  return ledger.acts().flatMap(({ time, command, by, after }) => {
    const next = records.findIndex(({ id }) => (ledger.placeOf(id) ?? 0) > after);
    return next < 1
      ? []
      : [
          {
            at: new Date(time).toISOString(),
            ...plainPageCommand(command),
            /** The name of the control token; null: there is none, as for the admin token. */
            by: by === "admin" ? null : by,
            /** The id of the request that came next. */
            before: records[next]?.id ?? "",
          },
        ];
  });
}

/** The button that repairs a sign-in, with the whole address that it registers (null: none), or that somebody repaired it. */
async function fixView(web: Web, failure: KeptRequest | null) {
  const fix = failure && (await fixOf(web.ctx, failure));
  if (fix === null) return { fix: null, isFixed: false };
  const { kind, target, uri, isMade } = fix;
  return { fix: isMade ? null : { change: changeView(web, kind, target, uri ?? undefined), uri }, isFixed: isMade };
}

/** What repairs a request, unless it is a command that the person may not run here: then who may. */
function allowedFix(web: Web, hint: Hint | null): FixParts {
  const [program, noun = "", verb = ""] = hint?.command ?? [];
  const name = [`${noun}.${verb}`, noun].find((one): one is OperationName => Object.hasOwn(operations, one));
  // Flags of the server are for whoever starts it.
  const isAllowed =
    program !== "idp" || (noun === "start" ? web.operator?.role === "admin" : name === undefined || mayHere(web, name));
  if (hint === null || isAllowed) return fixParts(web, hint);
  const role = name !== undefined && operations[name].role === "tester" ? "a tester" : "an admin";
  const what = noun === "start" ? "start" : `${noun} ${verb}`;
  return { advice: `Ask ${role} of this server: ${what} needs that role`, fix: null };
}

export type SignInView = Awaited<ReturnType<typeof signInView>>;

async function signInView(web: Web, req: Request, res: Response, flow: Flow) {
  const failure = failureOf(flow);
  const fixFor = (hint: Hint | null): FixParts => allowedFix(web, hint);
  return {
    ...tabView(web, req, res, null),
    streamHref: inspectorHref(web, streamPath),
    /** The list of all. */
    backHref: inspectorHref(web),
    /** The tab where faults are removed. */
    faultsHref: inspectorHref(web, tabs.testing),
    flow: rowOf(flow, inspectorHref(web, signInPath)),
    /** Where it failed. */
    failed: failure && {
      id: failure.id,
      clock: failure.clock,
      rule: failure.refusal?.rule ?? null,
      ...fixFor(failure.refusal?.hint ?? null),
    },
    ...(await fixView(web, failure)),
    acts: actsIn(flow, web.ctx.ledger),
    steps: stepsOf(flow, issuerUrl(web).origin, fixFor),
  };
}

/** The endpoints that are pages for people, which have names in each language. */
const pages = ["login", "consent", "factor", "device", "account", "sign-out"];

export function renderSignIn(renderer: Renderer, view: SignInView): Page {
  const writer = writerOf(renderer, view);
  const { lang, say } = writer;
  const moved = (seconds: number | null): string => (seconds === null ? "" : clockWords(writer, seconds));
  const moment = (iso: string): string => formatMoment(iso, lang, timeZoneHere());
  return writer.page(
    "inspector/sign-in",
    { name: "inspector", state: "sign-in", title: say("inspector.sign-in-title") },
    {
      ...tabData(writer, view, "sign-ins"),
      script: script(renderer, view),
      flow: {
        ...view.flow,
        ...outcomeWords(writer, view.flow.outcome),
        stoppedWords: stoppedWords(writer, view.flow),
        atWords: moment(view.flow.at),
      },
      refusedWords: refusedWords(view.flow, lang),
      failed: view.failed && {
        ...view.failed,
        clockWords: moved(view.failed.clock),
      },
      steps: view.steps.map((step) => ({
        ...step,
        ...outcomeWords(writer, step.outcome),
        // The fix of the request that failed stands above.
        ...(step.id === view.failed?.id && { advice: null, fix: null }),
        acts: view.acts.filter(({ before }) => before === step.id).map((act) => ({ ...act, atWords: moment(act.at) })),
        statusWords: step.lost ? say("inspector.no-response") : String(step.status),
        checks: step.checks.map(({ detail, ...check }) => ({
          ...check,
          detail: writer.plain(detail),
          isEnglish: typeof detail === "string",
        })),
        atWords: moment(step.at),
        msWords: formatNumber(step.ms, lang),
        endpointWords: pages.includes(step.endpoint) ? say(`inspector.page-${step.endpoint}`) : step.endpoint,
        clockWords: moved(step.clock),
      })),
    },
    headersFor(view, view.fix !== null),
  );
}

export const getSignIn = (all: Web) => async (req: Request<{ id: string }>, res: Response) => {
  const web = asAsked(all, req);
  const { ledger } = web.ctx;
  await ledger.refresh();
  const name = ledger.flowNamed(req.params.id);
  const flow = flowsOf(ledger.list()).find(({ id }) => id === name);
  if (flow === undefined)
    throw new HttpError(404, "the ledger holds no such sign-in: it keeps the last requests only", {
      fix: "go to the list of sign-ins",
    });
  sendPage(res, 200, renderSignIn(web.renderer, await signInView(web, req, res, flow)));
};
