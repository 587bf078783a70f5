import { mkdir } from "node:fs/promises";
import { chromium } from "playwright-core";
import { prepareChromium } from "../helpers/find-chromium.ts";
import { startPageServer } from "../helpers/page-server.ts";
import { samples } from "../helpers/sample-views.ts";

/** `npm run shots [name…]`: a picture of every page and state, light and dark, narrow and wide, English and Turkish, into `shots/`. */
const only = process.argv.slice(2);
const wanted = samples.filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)));
const languages = ["en", "tr"];
/** The account page offers the language that it is in. */
const inLanguage = (view: object, lang: string): object => ({
  ...view,
  lang,
  ...("language" in view && { language: lang }),
});
const servers = await Promise.all(languages.map((lang) => startPageServer((view) => inLanguage(view, lang))));
const { chromium: found, remove } = prepareChromium();
if (found === null) throw new Error("there is no Chromium here: name one by CHROMIUM_PATH");
const browser = await chromium.launch({
  executablePath: found.path,
  args: ["--no-sandbox"],
  env: { ...process.env, ...found.env },
});
await mkdir("shots", { recursive: true });
for (const colorScheme of ["light", "dark"] as const) {
  for (const width of [360, 1280]) {
    // Without scripts the form_post page stays where it is.
    const page = await browser.newPage({ colorScheme, viewport: { width, height: 720 }, javaScriptEnabled: false });
    for (const { name } of wanted) {
      for (const [index, lang] of languages.entries()) {
        await page.goto(`${servers[index]?.url ?? ""}/${name}`);
        await page.screenshot({ path: `shots/${name}-${lang}-${colorScheme}-${String(width)}.png`, fullPage: true });
      }
    }
    await page.close();
  }
}
await browser.close();
remove();
await Promise.all(servers.map((server) => server.close()));
process.stdout.write(`${String(wanted.length * 4 * languages.length)} pictures in shots/\n`);
