/** Explains errors of the operating system, and what to do about them. */
const causes: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full: make room",
  EDQUOT: "the disk quota is used up: make room",
  EFBIG: "a file would grow beyond the size limit of this process: see `ulimit -f`",
  EACCES: "there is no permission: check who owns the folder, or use another one with --data",
  EPERM: "there is no permission: check who owns the folder, or use another one with --data",
  EROFS: "the file system is read-only: use another folder with --data",
  ENOENT: "the folder is gone",
  EIO: "the disk failed",
  EMFILE: "too many files are open: see `ulimit -n`",
  ENFILE: "too many files are open on this machine",
  ENOTSUP: "the file system cannot do it: use a folder on a local disk with --data",
};

/** The code of a system error; "" for any other error. Our own errors have a `code` too, but no `errno`. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "errno" in error && "code" in error && typeof error.code === "string" ? error.code : "";

/** @param error what an operation of `node:fs` threw */
export function describeFault(error: unknown): string {
  const code = codeOf(error);
  const words = causes[code] ?? (error instanceof Error ? error.message : String(error));
  return code === "" ? words : `${words} (${code})`;
}
