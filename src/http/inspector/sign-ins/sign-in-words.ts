import { outcomeText, type Outcome, type OutcomeKind } from "../../../core/testing/ledger/outcome.ts";
import { liveFormPageHeaders, livePageHeaders } from "../../answer/security-headers.ts";
import type { writerOf } from "../../pages/page-writer.ts";
import { scriptPath, type Renderer } from "../../pages/templates/render.ts";
import { formatNumber } from "../../pages/templates/texts.ts";
import type { TabView } from "../tab.ts";
import type { FlowRow } from "./flows.ts";

/** What the list of sign-ins and the page of one have in common: both are live, and say how a sign-in ended. */

export const headersFor = ({ issuers }: TabView, hasForm: boolean): typeof livePageHeaders =>
  hasForm || issuers.others.length > 0 ? liveFormPageHeaders : livePageHeaders;

export const script = (renderer: Renderer, view: TabView): string =>
  `${view.base}${scriptPath}?v=${renderer.script().version}`;

export const stoppedWords = ({ say }: ReturnType<typeof writerOf>, { stopped }: FlowRow): string | null =>
  stopped && say(`inspector.stopped-${stopped}`);

/** Outcomes that pages name in each language. Others are those of the ledger, and English. */
const namedOutcomes = new Set<OutcomeKind>([
  "login-page",
  "consent-page",
  "factor-page",
  "account-page",
  "sign-out-page",
  "back-to-the-client-with-a-code",
  "signed-in",
  "signed-out",
  "request-pushed",
  "device-waits-for-its-user",
  "access-removed",
  "tokens",
  "active",
  "inactive",
]);

export function outcomeWords({ plain }: ReturnType<typeof writerOf>, outcome: Outcome | string) {
  if (typeof outcome === "string") return { outcome, isEnglish: true };
  const { kind, values = {}, proof, remarks = [] } = outcome;
  return namedOutcomes.has(kind) && proof === undefined && remarks.length === 0
    ? { outcome: plain({ key: `inspector.outcome-${kind}`, values }), isEnglish: false }
    : { outcome: outcomeText(outcome), isEnglish: true };
}

/** How many requests were refused, where the outcome does not say it; null: no more than that one. */
export const refusedWords = ({ refused, state }: FlowRow, lang: string): string | null =>
  refused > (state === "refused" || state === "fault" ? 1 : 0) ? formatNumber(refused, lang) : null;
