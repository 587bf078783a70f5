/** Bodies that are wrong in form, for every test that sends some: at endpoints with JSON, in attacks, and between random requests. */

/** What cannot be read as JSON, or is no object. */
export const notAnObject: readonly string[] = ["{", '{"a":', '{"a":}', "nonsense", "nul", '"text"', "5", "null", "[]"];

/** JSON that harms a careless reader. All but the first may be read. */
export const harmfulJson: readonly string[] = [
  "[".repeat(5000),
  '{"__proto__":{"client_id":"demo-app","client_secret":"demo-secret","admin":true}}',
  '{"a":1,"a":2}',
  '{"a":"\\ud800"}',
  "\ufeff{}",
  `{"client_id":"${"a".repeat(90_000)}"}`,
];

/** In place of the text of a parameter. */
export const wrongValues: readonly unknown[] = [
  ...[7, true, null, 1e308, {}, { $ne: "" }, [], [1], ["a"], ["a", "b"], [["a"]]],
  ...["\ud800", "\0", "__proto__", "constructor"],
];
