/** One thing that doctor looked at. */
export interface Finding {
  readonly name: string;
  readonly status: "ok" | "warning" | "problem";
  readonly detail: string;
  /** What to do about it, in words; null where there is nothing to do. */
  readonly fix: string | null;
  /** The command that does it, to be pasted. */
  readonly command: string | null;
}

export const ok = (name: string, detail: string): Finding => ({ name, status: "ok", detail, fix: null, command: null });

type Told = (name: string, detail: string, fix: string | null, command?: string) => Finding;

export const warning: Told = (name, detail, fix, command?: string) => ({
  ...{ name, status: "warning", detail, fix },
  command: command ?? null,
});

export const problem: Told = (name, detail, fix, command?: string) => ({
  ...{ name, status: "problem", detail, fix },
  command: command ?? null,
});
