import { type App, appStanding, standingUnknown, strangerAt, whyNotSignedIn } from "../frame/app.ts";
import type { Browser, Visit } from "../../client/app/visit.ts";
import { notReached, unnoticed, works, type Finding } from "../frame/verdict.ts";

/** Signs people in: those who leave, and one who stays. */

export interface SignInRun {
  readonly app: App;
  /** Who is signed in all the time, and stays. */
  readonly other: string;
  readonly newBrowser: (username: string) => Promise<Browser>;
}

/** A browser after a sign-in. */
interface SignedIn {
  readonly browser: Browser;
  readonly visit: Visit;
  /** Why nobody is signed in; null: somebody is. */
  readonly why: string | null;
}

export class SignIns {
  readonly #run: SignInRun;
  readonly #browsers: Browser[] = [];
  /** What somebody sees at `--signed-in` who never signed in; null: that is not known yet. */
  stranger: Visit | null = null;
  #bystander: Browser | null = null;

  constructor(run: SignInRun) {
    this.#run = run;
  }

  async #newBrowser(username: string): Promise<Browser> {
    const browser = await this.#run.newBrowser(username);
    this.#browsers.push(browser);
    return browser;
  }

  async signIn(username: string): Promise<SignedIn> {
    const { app } = this.#run;
    const browser = await this.#newBrowser(username);
    const visit = await browser.signIn(app.start);
    const standing = appStanding(await browser.look(app.signedIn), app, this.stranger);
    return { browser, visit, why: whyNotSignedIn(visit, standing) };
  }

  /** An ordinary sign-in of the one who stays. */
  async control(): Promise<Finding> {
    const { app, other } = this.#run;
    const stranger = this.stranger ?? (await strangerAt(await this.#newBrowser(other), app));
    if ("verdict" in stranger) return stranger;
    this.stranger = stranger;
    const { browser, why } = await this.signIn(other);
    if (why !== null) return notReached(why);
    this.#bystander ??= browser;
    return works("signed the user in");
  }

  /** Whether the one who stays is still signed in. */
  async otherUser(): Promise<Finding> {
    const { app } = this.#run;
    if (this.#bystander === null) return notReached("nobody else signed in");
    const standing = appStanding(await this.#bystander.look(app.signedIn), app, this.stranger);
    if (standing === "broken") return standingUnknown;
    return standing === "in" ? works("kept another user signed in") : unnoticed("signed another user out");
  }

  async close(): Promise<void> {
    for (const browser of this.#browsers) await browser.close().catch(() => undefined);
  }
}
