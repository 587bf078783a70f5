/** One word of a POSIX shell, whatever it holds; null where it holds what no command line should (line breaks, letters that run backwards). */
export function shellWord(text: string): string | null {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return /^[\x20-\x7e]+$/.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : null;
}
