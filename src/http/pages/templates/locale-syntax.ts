/** Finds the mistake in a locale that is not JSON, in words. A locale is an object of texts, so its grammar is small. */

/** What may come next: for each token that is allowed, what comes after it. */
const after: Readonly<Record<Step, Readonly<Partial<Record<string, Step>>>>> = {
  start: { "{": "first" },
  first: { text: "colon", "}": "end" },
  name: { text: "colon" },
  colon: { ":": "value" },
  value: { text: "next" },
  next: { ",": "name", "}": "end" },
  end: {},
};

type Step = keyof typeof wanted;

const wanted = {
  start: "a { is expected at the start",
  first: "a name in double quotes is expected",
  name: "a name in double quotes is expected",
  colon: "a colon is expected after the name",
  value: "a text in double quotes is expected",
  next: "a comma is expected after the text, or } at the end",
  end: "nothing may come after the } that ends it",
} as const;

const tokens = /[ \t\r\n]*(?:(?<text>"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?<mark>[^ \t\r\n]))/y;

/** What is wrong where `found` stands, which is "" at the end of the file. */
function complaint(step: Step, found: string): string {
  if (found === "" && step !== "start") return step === "value" || step === "colon" ? wanted[step] : "a } is missing";
  if (found === '"' && after[step].text !== undefined)
    return "this text does not end on its line, or has a \\ that JSON does not know";
  if (found === "/") return "JSON has no comments: remove it";
  if (found === "}" && step === "name") return "remove the comma before }";
  return wanted[step];
}

/** @param text what `JSON.parse` refuses @returns null if this is no such mistake */
export function syntaxMistake(text: string): { readonly offset: number; readonly message: string } | null {
  let step: Step = "start";
  tokens.lastIndex = 0;
  for (;;) {
    const match = tokens.exec(text);
    const { text: string, mark } = match?.groups ?? {};
    const next: Step | undefined = after[step][string === undefined ? (mark ?? "") : "text"];
    if (next !== undefined) {
      step = next;
      continue;
    }
    if (match === null && step === "end") return null;
    const offset =
      match === null ? text.trimEnd().length : match.index + match[0].length - (string ?? mark ?? "").length;
    return { offset, message: complaint(step, mark ?? string?.slice(1, 2) ?? "") };
  }
}
