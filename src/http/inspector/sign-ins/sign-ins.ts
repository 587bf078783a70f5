import { bodyParameters } from "../../input/params.ts";
import { pageCommand } from "../../pages/commands.ts";
import { sendPage, writerOf, type Page } from "../../pages/page-writer.ts";
import type { Renderer } from "../../pages/templates/render.ts";
import { formatMoment, formatNumber, timeZoneHere } from "../../pages/templates/texts.ts";
import { inspectorHref, signInPath } from "../access.ts";
import { askedOf, choice, listData, listView, pageOf, proposal } from "../lists.ts";
import { statusFor, tabData, tabView, type ShowTab } from "../tab.ts";
import { flowsOf, isFound, rowOf, signInFilters, valuesIn } from "./flows.ts";
import { headersFor, outcomeWords, refusedWords, script, stoppedWords } from "./sign-in-words.ts";
import { streamPath } from "./stream.ts";

/** The list of sign-ins. */

const states = Object.fromEntries(
  ["passed", "unfinished", "refused", "fault"].map((one) => [one, { key: `inspector.flow-${one}`, values: {} }]),
);

export type SignInsView = Awaited<ReturnType<typeof signInsView>>;

async function signInsView(...[web, req, res, refusal]: Parameters<ShowTab>) {
  const asked = askedOf(req, bodyParameters(req), signInFilters);
  await web.ctx.ledger.refresh();
  const flows = flowsOf(web.ctx.ledger.list());
  const part = pageOf(
    asked,
    flows.filter((flow) => isFound(asked.filters, flow)),
  );
  const { client, user, status, error } = valuesIn(flows);
  return {
    ...tabView(web, req, res, refusal),
    ...listView(asked, part, [
      choice(asked, ["state", "inspector.outcome"], states),
      proposal(asked, ["status", "inspector.fault-field-status"], [...status, "4xx", "5xx"]),
      proposal(asked, ["client", "inspector.client"], client),
      proposal(asked, ["user", "inspector.user"], user),
      proposal(asked, ["error", "inspector.fault-field-error"], error),
    ]),
    /** The address of the stream of requests, for the script. */
    streamHref: inspectorHref(web, streamPath),
    /** Begins a sign-in. */
    command: pageCommand(web, ["idp", "login"]).command,
    /** How many requests the ledger lacks, because they could not be written. */
    lost: web.ctx.ledger.lost(),
    flows: part.rows.map((flow) => rowOf(flow, inspectorHref(web, signInPath))),
  };
}

export function renderSignIns(renderer: Renderer, view: SignInsView): Page {
  const writer = writerOf(renderer, view);
  const { lang, say } = writer;
  const state = view.flows.length === 0 && !view.isFiltered ? "empty" : "live";
  return writer.page(
    "inspector/sign-ins",
    { name: "inspector", state, title: say("inspector.tab-sign-ins") },
    {
      ...tabData(writer, view, "sign-ins"),
      script: script(renderer, view),
      ...listData(writer, view),
      lostWords: view.lost > 0 ? formatNumber(view.lost, lang) : null,
      flows: view.flows.map((flow) => ({
        ...flow,
        ...outcomeWords(writer, flow.outcome),
        atWords: formatMoment(flow.at, lang, timeZoneHere()),
        stoppedWords: stoppedWords(writer, flow),
        refusedWords: refusedWords(flow, lang),
      })),
    },
    headersFor(view, false),
  );
}

export const showSignIns: ShowTab = async (web, req, res, refusal) => {
  sendPage(res, statusFor(web, refusal), renderSignIns(web.renderer, await signInsView(web, req, res, refusal)));
};
