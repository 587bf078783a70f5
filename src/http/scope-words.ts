import type { NamedScope } from "../core/scope-display.ts";
import type { RequestNote, RequestSummary } from "../core/request-summary.ts";
import type { ScopeView, RequestView } from "./views.ts";

/** Fixture words of a scope in the language of the page, else in English, else in the first there is. */
export const scopeIn =
  (lang: string) =>
  ({ name, description }: NamedScope): ScopeView => ({
    name,
    title: description?.[lang.slice(0, 2)] ?? description?.["en"] ?? Object.values(description ?? {})[0] ?? null,
  });

const noteText = (note: RequestNote): RequestView["notes"][number] => ({
  key: `note.${note.kind}`,
  values: note.kind === "unknown-scopes" ? { scopes: note.scopes.join(" ") } : {},
});

/** The request at the foot of login and consent. */
export const requestView = ({ details, notes }: RequestSummary): RequestView => ({
  details,
  notes: notes.map(noteText),
});
