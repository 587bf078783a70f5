import type { writerOf } from "../pages/page-writer.ts";
import { formatDuration, formatNumber } from "../pages/templates/texts.ts";

/** A moved clock and active faults, which every tab shows. */
export interface BannerView {
  /** Seconds that the clock is ahead; negative: behind. */
  readonly offset: number;
  readonly frozen: boolean;
  readonly faults: number;
}

/** How far a clock is moved: "2 hours ahead". */
export function clockWords({ plain, lang }: ReturnType<typeof writerOf>, offset: number): string {
  const distance = formatDuration(Math.abs(offset), lang);
  const key = offset === 0 ? "on-time" : offset > 0 ? "ahead" : "behind";
  return plain({ key: `inspector.clock-${key}`, values: { distance } });
}

/** The sentences of the banner. */
export function bannerOf(writer: ReturnType<typeof writerOf>, banner: BannerView | null): readonly string[] {
  if (banner === null) return [];
  const { plain, say, lang } = writer;
  const { offset, frozen, faults } = banner;
  const words = clockWords(writer, offset);
  return [
    ...(offset === 0 ? [] : [plain({ key: "inspector.banner-clock", values: { distance: words } })]),
    ...(frozen ? [say("inspector.banner-frozen")] : []),
    ...(faults === 0 ? [] : [plain({ key: "inspector.banner-faults", values: { count: formatNumber(faults, lang) } })]),
  ];
}
