import type { NamedScope } from "../../core/consent/consent.ts";
import type { RequestSummary, RequestNote } from "../../core/sign-in/purpose.ts";
import type { ScopeView, RequestView } from "./views.ts";

/** The words that a fixture gives a scope: in the language of the page, else in English, else in the first language. */
export const scopeIn =
  (pageLang: string) =>
  ({ name, description }: NamedScope): ScopeView => {
    const words = description ?? {};
    const lang = pageLang.slice(0, 2);
    const found = [lang, "en", ...Object.keys(words)].find((code) => Object.hasOwn(words, code));
    return {
      name,
      title: found === undefined ? null : (words[found] ?? null),
      titleLang: found === lang ? undefined : found,
    };
  };

const noteText = (note: RequestNote): RequestView["notes"][number] => ({
  key: `note.${note.kind}`,
  values: note.kind === "unknown-scopes" ? { scopes: note.scopes.join(" ") } : {},
});

/** The request at the foot of login and consent. */
export const requestView = ({ details, notes }: RequestSummary): RequestView => ({
  details,
  notes: notes.map(noteText),
});
