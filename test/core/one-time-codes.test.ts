import { expect, test } from "vitest";
import { codeAt, fromBase32 } from "../../src/core/records/step-up/otp.ts";

/** RFC 6238, appendix B, in six digits; and RFC 4648 10. */

const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";

test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("at %i s the code is %s", (seconds, code) => {
  expect(codeAt(secret, Math.floor(seconds / 30))).toBe(code);
});

test.each(["MZXW6YTBOI", "mzxw6ytboi", "MZXW 6YTB OI======"])("the secret %j is foobar", (text) => {
  expect(fromBase32(text).toString()).toBe("foobar");
});
