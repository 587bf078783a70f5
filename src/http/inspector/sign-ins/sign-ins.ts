import type { Request, RequestHandler, Response } from "express";
import { fixOf } from "../../../core/ledger/repair.ts";
import type { Hint } from "../../../core/hint.ts";
import type { KeptRequest, Ledger } from "../../../core/ledger/ledger.ts";
import { operations, type OperationName } from "../../../core/operations/routes.ts";
import { HttpError } from "../../answer/error-answers.ts";
import { sendText } from "../../answer/answer.ts";
import { streamLedger } from "../../answer/event-stream.ts";
import { assetHeaders } from "../../answer/security-headers.ts";
import { bodyParameters } from "../../input/params.ts";
import { fixParts, pageCommand, plainPageCommand, type FixParts } from "../../pages/commands.ts";
import { sendPage } from "../../pages/page-writer.ts";
import { issuerUrl, type Web } from "../../web.ts";
import { tabs, asAsked, inspectorHref, mayHere, operatorOf, signInPath } from "../access.ts";
import { changeView, statusFor, tabView, type ShowTab } from "../tab.ts";
import { askedOf, choice, listView, pageOf, proposal } from "../lists.ts";
import { failureOf, flowsOf, isFound, rowOf, signInFilters, valuesIn, type Flow } from "./flows.ts";
import { renderSignIn, renderSignIns, type SignInView } from "./sign-in-views.ts";
import { stepsOf } from "./steps.ts";

/** The list of sign-ins, the sequence of one, and the stream that tells a page that there are new requests. */

/** Below the inspector. */
export const streamPath = "stream";

const states = Object.fromEntries(
  ["passed", "unfinished", "refused", "fault"].map((one) => [one, { key: `inspector.flow-${one}`, values: {} }]),
);

export const showSignIns: ShowTab = async (web, req, res, refusal) => {
  const asked = askedOf(req, bodyParameters(req), signInFilters);
  await web.ctx.ledger.refresh();
  const flows = flowsOf(web.ctx.ledger.list());
  const part = pageOf(
    asked,
    flows.filter((flow) => isFound(asked.filters, flow)),
  );
  const { client, user, status, error } = valuesIn(flows);
  const page = renderSignIns(web.renderer, {
    ...tabView(web, req, res, refusal),
    ...listView(asked, part, [
      choice(asked, ["state", "inspector.outcome"], states),
      proposal(asked, ["status", "inspector.fault-field-status"], [...status, "4xx", "5xx"]),
      proposal(asked, ["client", "inspector.client"], client),
      proposal(asked, ["user", "inspector.user"], user),
      proposal(asked, ["error", "inspector.fault-field-error"], error),
    ]),
    streamHref: inspectorHref(web, streamPath),
    command: pageCommand(web, ["idp", "login"]).command,
    lost: web.ctx.ledger.lost(),
    flows: part.rows.map((flow) => rowOf(flow, inspectorHref(web, signInPath))),
  });
  sendPage(res, statusFor(web, refusal), page);
};

/** What operators did between the first and the last request of a sign-in. */
function actsIn({ records }: Flow, ledger: Ledger): SignInView["acts"] {
  return ledger.acts().flatMap(({ time, command, by, after }) => {
    const next = records.findIndex(({ id }) => (ledger.placeOf(id) ?? 0) > after);
    return next < 1
      ? []
      : [
          {
            at: new Date(time).toISOString(),
            ...plainPageCommand(command),
            by: by === "admin" ? null : by,
            before: records[next]?.id ?? "",
          },
        ];
  });
}

/** The button that repairs a sign-in, or that somebody repaired it. */
async function fixView(web: Web, failure: KeptRequest | null): Promise<Pick<SignInView, "fix" | "isFixed">> {
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
  const failure = failureOf(flow);
  const fixFor = (hint: Hint | null): FixParts => allowedFix(web, hint);
  const page = renderSignIn(web.renderer, {
    ...tabView(web, req, res, null),
    streamHref: inspectorHref(web, streamPath),
    backHref: inspectorHref(web),
    faultsHref: inspectorHref(web, tabs.testing),
    flow: rowOf(flow, inspectorHref(web, signInPath)),
    failed: failure && {
      id: failure.id,
      clock: failure.clock,
      rule: failure.refusal?.rule ?? null,
      ...fixFor(failure.refusal?.hint ?? null),
    },
    ...(await fixView(web, failure)),
    acts: actsIn(flow, ledger),
    steps: stepsOf(flow, issuerUrl(web).origin, fixFor),
  });
  sendPage(res, 200, page);
};

/** How many bytes may wait for a browser that does not read them. */
const maxWaiting = 64 * 1024;

/** Server-sent events (HTML 9.2). Each names the sign-in of a new request, so that the page loads its content again. */
export const getStream =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const mayRead = (): boolean => operatorOf(web, req) !== null;
    await web.ctx.ledger.refresh();
    streamLedger(res, web.ctx.ledger, { mayRead, maxWaiting, eventOf: ({ flow, id }) => `data: ${flow ?? id}\n\n` });
  };

export const getScript =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    sendText(res, 200, assetHeaders, "text/javascript; charset=utf-8", renderer.script().text);
  };
